//! Text that comes out of a template as it went in.

/// The text with the marks that begin Tera's tags written as strings in tags.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let mark = tail.get(..2).filter(|m| ["{{", "{%", "{#"].contains(m));
        let taken = match mark {
            Some(mark) => {
                out.push_str("{{ \"");
                out.push_str(mark);
                out.push_str("\" }}");
                2
            }
            None => {
                out.push('{');
                1
            }
        };
        rest = tail.get(taken..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::escape;
    use crate::render::plan::{Choice, plan};
    use crate::render::source::Memory;
    use crate::render::template::BaseFacts;
    use crate::series::load::from_text;
    use crate::series::toml_text;
    use crate::series::version::Version;

    /// What the renderer makes of a new file with this template.
    fn rendered(template: &str) -> String {
        let toml = format!(
            "title = \"t\"\nauthor = \"A <a@b>\"\ndate = 2024-01-01T00:00:00Z\n[[patch]]\nname = \"p\"\n\
             message = {{ text = \"s\" }}\n[[patch.edit]]\nfile = \"f\"\ncreate = {{ text = {} }}\n",
            toml_text::string(template)
        );
        let series = from_text(&toml, std::path::Path::new("/nowhere"), "s").unwrap();
        let facts = BaseFacts { name: "b".into(), version: Version::new(6, 1, 0) };
        let spatch = crate::render::cocci::Spatch;
        let plan = plan(&series, &facts, &Memory::default(), &Choice::default(), &spatch).unwrap();
        let file =
            plan.patches[0].changes.get("f").unwrap().as_ref().unwrap().text.bytes().to_vec();
        String::from_utf8(file).unwrap()
    }

    #[test]
    fn marks() {
        for text in [
            "a {{ b }} {% c %} {# d #}\n",
            "{{{{%{#{\n",
            "{ {{\n}}\n",
            "{{- x -}} {%- raw -%}\n",
            "{% include \"x\" %}{{ vars.x }}{{ has.y }}\n",
            "{% raw %} {% endraw %}\n",
            "\r\n\t\"{{\"\\\n",
        ] {
            assert_eq!(rendered(&escape(text)), text, "{text}");
        }
        assert_eq!(escape("int a[] = { 1 };"), "int a[] = { 1 };");
    }

    proptest::proptest! {
        #[test]
        fn any_text_comes_out_as_it_went_in(text in "([{}%#\"' \n\r\t.-]|raw|vars|\\PC){0,40}") {
            let text = format!("{text}\n");
            proptest::prop_assert_eq!(rendered(&escape(&text)), text);
        }
    }
}

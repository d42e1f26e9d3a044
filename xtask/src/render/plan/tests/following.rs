//! Which conflicts are only another one's fault.

use super::*;

/// Where the edit that lacks what an edit before it makes is counted.
fn followed(toml: &str, files: &[(&str, &str)]) -> Vec<bool> {
    let plan = planned_with(toml, &[], &Memory::of(files), &Choice::default()).unwrap();
    let Verdict::Conflict { conflicts } = &plan.patches[0].verdict else {
        panic!("{}", plan.verdict)
    };
    conflicts.iter().map(|c| c.after.is_some()).collect()
}

#[test]
fn a_conflict_follows_where_the_failed_text_defines_what_is_not_found() {
    const H: &str = "struct s {\n\tint a;\n\tint a2;\n};\n";
    let maker = "#define M 1\\nstruct s {\\n\\tint b;\\n};\\n\\nint sub(int a)\\n{\\n\\treturn two(a);\\n}\\n";
    let cases = [
        ("file = \"f.c\"\nat = { function = \"sub\" }", true),
        ("file = \"f.c\"\nat = { macro = \"M\" }", true),
        ("file = \"f.c\"\nat = { text = \"x();\" }\nwithin = { function = \"sub\" }", true),
        ("file = \"f.c\"\nat = { function = \"sub\", text = \"return a;\" }", true),
        ("file = [\"f.c\", \"s.h\"]\nat = { function = \"sub\" }", true),
        // Its text only uses that.
        ("file = \"f.c\"\nat = { function = \"two\" }", false),
        ("file = \"f.c\"\nat = { struct = \"*\", has = \"c\" }", false),
        // Another file.
        ("file = \"s.h\"\nat = { function = \"sub\" }", false),
        (
            "file = \"f.c\"\ncapture = { x = { file = \"s.h\", macro = \"M\" } }\nat = { function = \"f\" }",
            false,
        ),
        // Here, and not as it should be.
        ("file = \"f.c\"\nat = { tokens = \"int\" }", false),
        ("file = \"f.c\"\nat = { text = \"int r;\" }\ntimes = 2", false),
    ];
    for (edit, want) in cases {
        let toml = format!(
            "{}[[patch.edit]]\n{edit}\nreplace = {{ text = \"int y;\" }}\n",
            one(&format!(
                "at = {{ function = \"gone\" }}\ninsert-before = {{ text = \"{maker}\" }}"
            ))
        );
        assert_eq!(followed(&toml, &[("f.c", C), ("s.h", H)]), [false, want], "{edit}");
    }
}

#[test]
fn a_conflict_follows_through_others_from_the_first() {
    let edit = |at: &str, text: &str| {
        format!("at = {{ function = \"{at}\" }}\ninsert-after = {{ text = \"{text}\" }}\n")
    };
    let toml = [
        one(&edit("gone", "int a1;\\nint s1(void)\\n{\\n}")),
        edit("s1", "int s2(void)\\n{\\n}"),
        edit("s2", "int x;"),
    ];
    let toml = toml.join("[[patch.edit]]\nfile = \"f.c\"\n");
    let plan = planned(&toml, &[]).unwrap();
    let Verdict::Conflict { conflicts } = &plan.verdict else { panic!("{}", plan.verdict) };
    let first = Some(&conflicts[0].edit);
    let after: Vec<_> = conflicts.iter().map(|c| c.after.as_ref()).collect();
    assert_eq!(after, [None, first, first]);
}

//! What holds of any plan.

use super::*;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The same series on the same files gives the same bytes.
    #[test]
    fn rendering_is_deterministic(body in "[a-z]{1,8}", extra in "(\t[a-z]{1,3}\\(\\);\n){0,4}") {
        let src = C.replace("\treturn", &format!("{extra}\treturn"));
        let toml = one(&format!("within = {{ function = \"f\" }}\ncapture = {{ c = {{ part = \"statements\", function = \"f\" }} }}\nat = {{ function = \"f\" }}\ninsert-after = {{ text = \"int {body}_(int a)\\n{{\\n\\tint r;\\n\\n{{{{ c }}}}\\n}}\" }}"))
            .replace("within = { function = \"f\" }\n", "");
        let memory = Memory::of(&[("f.c", &src)]);
        let run = || {
            let plan = planned_with(&toml, &[], &memory, &Choice::default()).unwrap();
            content(&plan, 0, "f.c")
        };
        let first = run();
        prop_assert!(first.starts_with(&src));
        prop_assert_eq!(first, run());
    }
}

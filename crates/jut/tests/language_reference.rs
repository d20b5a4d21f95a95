//! Every program in the language reference does what the text says of it.

/// The fenced blocks of a Markdown text that are marked `jut`: the rest of the mark, and the text.
fn blocks(markdown: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in markdown.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some("")) => blocks.extend(open.take()),
            (Some((_, text)), _) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, Some(mark)) if mark == "jut" || mark.starts_with("jut ") => {
                open = Some((mark["jut".len()..].trim().to_string(), String::new()));
            }
            (None, _) => {}
        }
    }
    blocks
}

fn documents() -> Vec<(&'static str, String)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    ["README.md", "docs/coming-from.md", "docs/std.md", "docs/language.md"]
        .map(|name| (name, std::fs::read_to_string(format!("{root}/{name}")).expect(name)))
        .to_vec()
}

#[test]
fn every_program_in_the_documents_loads_or_is_refused_as_stated() {
    let mut count = 0;
    for (name, text) in documents() {
        for (mark, program) in blocks(&text) {
            count += 1;
            let loaded = jut::Model::from_named_text(name, &program);
            match (mark.strip_prefix("refused="), loaded) {
                (None, Ok(_)) => {}
                (None, Err(error)) => panic!("{name}: {error}\n{program}"),
                (Some(code), Ok(_)) => panic!("{name}: not refused with {code}:\n{program}"),
                (Some(code), Err(jut::Error::Program(diagnostics))) => {
                    let codes: Vec<&str> = diagnostics.list().iter().map(|d| d.code).collect();
                    assert!(
                        codes.contains(&code),
                        "{name}: {codes:?} instead of {code}\n{program}"
                    );
                }
                (Some(_), Err(other)) => panic!("{name}: {other}"),
            }
        }
    }
    assert!(count > 12, "the documents have lost their programs");
}

#[test]
fn every_float_function_of_the_language_reference_has_a_gradient_or_a_product() {
    for (name, text) in documents() {
        for (mark, program) in blocks(&text) {
            if !mark.is_empty() {
                continue;
            }
            let model = jut::Model::from_named_text(name, &program).expect(name);
            let externs: Vec<String> = model.externs().map(String::from).collect();
            let model = externs.iter().fold(model, |model, name| {
                model.with_extern(name, |_, _| Ok(())).expect("it is declared")
            });
            for function in model.functions() {
                let f = model.function(function).expect(function);
                let floats = f.parameters().iter().any(|(_, ty)| ty.contains("f64"));
                if floats && !program.contains("core def") {
                    let vjp = f.vjp();
                    if let Err(jut::Error::Program(d)) = &vjp {
                        // What is said to be not built yet may be refused, with its reason.
                        let built = d.list().iter().all(|d| !d.message.contains("not built yet"));
                        assert!(!built, "{function}: {}", d.render(false));
                    } else if let Err(other) = vjp {
                        assert!(other.to_string().contains("not built yet"), "{function}: {other}");
                    }
                }
            }
        }
    }
}

/// Every code that stands in a source file of jut.
fn codes_in(directory: &std::path::Path, codes: &mut std::collections::BTreeSet<String>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            codes_in(&path, codes);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source file");
            for (at, _) in text.match_indices("\"J") {
                let code = text.get(at + 1..at + 6).unwrap_or_default();
                let digits = code.get(1..4).unwrap_or_default();
                if code.ends_with('"') && digits.bytes().all(|b| b.is_ascii_digit()) {
                    codes.insert(code[..4].to_string());
                }
            }
        }
    }
}

#[test]
fn every_code_is_in_the_table_of_codes() {
    let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let mut codes = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(crates).expect("the crates").flatten() {
        codes_in(&entry.path().join("src"), &mut codes);
    }
    assert!(codes.len() > 40, "{codes:?}");
    let documents = documents();
    let (_, text) = documents.last().expect("the language reference");
    for code in codes {
        assert!(text.contains(&format!("| {code} |")), "{code} is not in docs/language.md");
    }
}

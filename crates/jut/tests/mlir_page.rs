//! `docs/mlir.md` shows what jut writes. `JUT_BLESS=1 cargo test -p jut mlir_page::` renews it.

use jut::{Model, Stage};
use std::path::Path;

/// Where the first block of a language begins and ends in a page.
fn block(page: &str, language: &str) -> (usize, usize) {
    let fence = format!("```{language}\n");
    let start = page.find(&fence).expect("a block") + fence.len();
    (start, start + page[start..].find("```").expect("its end"))
}

#[test]
fn the_page_on_mlir_shows_what_is_written() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mlir.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let (start, end) = block(&page, "jut");
    let model = Model::from_text(&page[start..end]).expect("a program");
    let text =
        model.function("loss").expect("loss").stage(Stage::Text(jut::Engine::Mlir)).expect("MLIR");
    let from = text.find("func.func private @loss.value_grad").expect("the gradient");
    let function = &text[from..from + text[from..].find("\n}\n").expect("its end") + 3];
    let (start, end) = block(&page, "mlir");
    if std::env::var_os("JUT_BLESS").is_some() {
        let renewed = format!("{}{function}{}", &page[..start], &page[end..]);
        std::fs::write(&path, renewed).expect("written");
    } else {
        assert_eq!(&page[start..end], function);
    }
}

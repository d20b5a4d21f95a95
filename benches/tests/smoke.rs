//! The harness itself, with the least effort: what it writes is complete. No time is asserted.

use serde_json::Value;
use std::process::Command;

#[test]
fn a_run_measures_every_program_and_writes_table_json_and_page() {
    let dir = tempfile::tempdir().unwrap();
    let (json, html) = (dir.path().join("run.json"), dir.path().join("run.html"));
    let run = Command::new(env!("CARGO_BIN_EXE_jut-benches"))
        .arg("--smoke")
        .arg("--json")
        .arg(&json)
        .arg("--html")
        .arg(&html)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let table = String::from_utf8(run.stdout).unwrap();
    let report: Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    let page = std::fs::read_to_string(html).unwrap();

    let rows = report["rows"].as_array().unwrap();
    let cases = jut_benches::cases::all(true);
    assert_eq!(rows.len(), cases.len());
    for (row, case) in rows.iter().zip(&cases) {
        let label = format!("{} {}", case.name, case.size);
        assert_eq!(
            (row["name"].as_str(), row["size"].as_str()),
            (Some(case.name), Some(&*case.size))
        );
        for time in ["compile", "first_gradient", "primal", "cranelift", "hand", "interpreter"] {
            assert!(row[time].as_f64().unwrap() > 0.0, "{label} has no time `{time}`");
        }
        assert_eq!(row["num_dual"].is_null(), case.dual.is_none(), "{label}");
        assert!(table.contains(case.name), "the table lacks {label}");
        assert!(page.contains(&label), "the page lacks {label}");
    }
    for call in report["calls"].as_array().unwrap() {
        for time in ["hand", "code", "bound", "into", "session", "typed"] {
            assert!(call[time].as_f64().unwrap() > 0.0, "{call} has no time `{time}`");
        }
        assert!(table.contains(call["name"].as_str().unwrap()), "the table lacks {call}");
    }
    assert_eq!(report["calls"].as_array().unwrap().len(), 3);
    for threads in report["threads"].as_array().unwrap() {
        assert!(threads["times"][0][1].as_f64().unwrap() > 0.0, "{threads} has no time");
        assert!(table.contains(threads["name"].as_str().unwrap()), "the table lacks {threads}");
    }
    assert!(report["threads"].as_array().unwrap().len() >= 4);
    assert_eq!(report["lengths"].as_array().unwrap().len(), 2);
    assert_eq!(report["sizes"].as_array().unwrap().len(), 2);
    for key in ["machine", "date", "jut", "cranelift", "rustc", "flags"] {
        let value = report["setting"][key].as_str().unwrap();
        assert!(!value.is_empty(), "the setting lacks {key}");
    }
    assert_eq!(page.matches("<svg").count(), 5);
    assert!(!page.contains("<script") && !page.contains("NaN") && !page.contains("href"));
}

#[test]
fn a_call_in_steady_state_asks_for_no_memory() {
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("run.json");
    let program = Command::new(env!("CARGO_BIN_EXE_jut-benches"))
        .args(["rosenbrock", "--smoke", "--json"])
        .arg(&json)
        .output()
        .unwrap();
    assert!(program.status.success(), "{}", String::from_utf8_lossy(&program.stderr));
    let report: Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    assert_eq!(report["rows"][0]["allocations_per_call"].as_f64(), Some(0.0));
}

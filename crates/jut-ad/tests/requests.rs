//! The table of requests.

use jut_ad::compose::{Request, TABLE};

#[test]
fn every_request_has_one_row_and_names_of_its_own() {
    assert_eq!(TABLE.last().map(|row| row.request), Some(Request::Batched));
    for (k, row) in TABLE.iter().enumerate() {
        assert_eq!(row.request.row().composition, row.composition);
        assert_eq!(Request::named(row.suffix), Some(row.request));
        assert!(TABLE[..k].iter().all(|other| other.composition != row.composition));
    }
}

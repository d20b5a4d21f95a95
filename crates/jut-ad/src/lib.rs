//! jut-ad

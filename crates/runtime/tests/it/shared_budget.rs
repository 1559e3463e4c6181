//! Budgets of which each owner has a share.

use futures_util::FutureExt;
use toolkit_runtime::{BudgetExceeded, SharedBudget};

#[test]
fn an_owner_holds_at_most_half_and_the_next_ones_half_of_the_rest() {
    let budget = SharedBudget::new(1000);
    let fill = |name: &'static str| {
        let mut share = budget.share(Some(name));
        while share.grow(1).is_ok() {}
        share
    };
    let shares = ["a", "b", "c", "d"].map(fill);
    assert_eq!(shares.each_ref().map(|share| share.n_units()), [500, 250, 125, 63]);
    // Another part of an owner does not change its share.
    let again = fill("a");
    assert_eq!(again.n_units(), 0);
    let error = budget.share(Some("a")).grow(1).unwrap_err();
    assert_eq!(error, BudgetExceeded { owner: 0, held: 500, max: 1000 });
    drop(shares);
    assert_eq!(fill("d").n_units(), 500);
}

#[test]
fn units_of_several_owners_count_for_each_of_them() {
    let budget = SharedBudget::with_ratio(16, 3);
    let mut both = budget.share(["tool", "alice"]);
    both.grow(12).unwrap();
    assert_eq!(both.grow(1), Err(BudgetExceeded { owner: 0, held: 12, max: 16 }));
    let mut other = budget.share(["other", "alice"]);
    assert_eq!(other.grow(1), Err(BudgetExceeded { owner: 1, held: 12, max: 16 }));
    let mut bob = budget.share(["other", "bob"]);
    assert_eq!((bob.grow(3), budget.n_held()), (Ok(()), 15));
    drop(both);
    assert_eq!((other.grow(1), budget.held_by(&"alice"), budget.held_by(&"tool")), (Ok(()), 1, 0));
}

#[test]
fn units_are_returned_one_by_one_or_together() {
    let budget = SharedBudget::<u8>::new(10);
    let mut alone = budget.share(None);
    assert!(alone.grow(11).is_err() && alone.grow(5).is_ok() && alone.grow(1).is_err());
    alone.shrink(3);
    assert_eq!((alone.n_units(), budget.share(None).grow(8)), (2, Ok(())));
    // An earlier share that is taken again is no larger than what is left.
    let mut earlier = budget.share(Some(1));
    earlier.grow_beyond(100);
    assert_eq!((earlier.n_units(), budget.share(None).grow(1).is_err()), (8, true));
    drop((alone, earlier));
    assert!(budget.share(Some(1)).grow(5).is_ok());
}

#[tokio::test]
async fn one_that_waits_for_units_gets_them_when_enough_are_returned() {
    let budget = SharedBudget::new(10);
    let (mut first, mut second) = (budget.share(Some("first")), budget.share(Some("second")));
    first.grow(5).unwrap();
    second.grow_when_free(2).await;
    let mut waits = Box::pin(second.grow_when_free(2));
    assert!(waits.as_mut().now_or_never().is_none(), "it would hold 4, and 3 are free");
    let returned = budget.returned();
    first.shrink(0);
    assert!(returned.now_or_never().is_none(), "nothing was returned");
    let returned = budget.returned();
    first.shrink(1);
    assert!(returned.now_or_never().is_some() && waits.as_mut().now_or_never().is_some());
    drop(waits);
    assert_eq!((first.n_units(), second.n_units(), budget.n_held()), (4, 4, 8));
    // More than it holds is all.
    first.shrink(100);
    assert_eq!((first.n_units(), budget.held_by(&"first"), budget.n_held()), (0, 0, 4));
}

#[test]
fn an_owner_never_takes_more_than_there_is_whatever_its_ratio() {
    let budget = SharedBudget::with_ratio(4, u64::MAX);
    let mut all = budget.share(Some("all"));
    assert_eq!(all.grow(u64::MAX), Err(BudgetExceeded { owner: 0, held: 0, max: 4 }));
    assert_eq!(all.grow(5), Err(BudgetExceeded { owner: 0, held: 0, max: 4 }));
    assert_eq!(all.grow(4), Ok(()));
    let error = budget.share(Some("other")).grow(1).unwrap_err();
    assert_eq!((error.held, error.to_string()), (0, "the share of 0 of 4 is used up".to_owned()));
}

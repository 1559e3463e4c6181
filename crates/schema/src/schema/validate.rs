//! Validation of values.

use serde_json::Value;

use super::Schema;
use crate::cost;
use crate::tree::held_copy;
use crate::violation::{Repairs, Violation, Violations, Wanted};

impl Schema {
    /// Validates a value.
    ///
    /// # Errors
    ///
    /// Returns all violations, sorted by pointer. The list is limited to the first 256, and for a very large value to
    /// those in its front part. A recursive schema rejects values nested deeper than [`Schema::MAX_DEPTH`] levels; the
    /// limit is lower if the schema combines many schemas at each level.
    pub fn validate(&self, instance: &Value) -> Result<(), Violations> {
        self.verdict(instance, Wanted::All)
    }

    /// Validates a value that the caller may repair.
    ///
    /// `may_be_repaired` receives the violations that the repairs may concern, without their rules. If it returns true,
    /// only these violations are returned.
    ///
    /// # Errors
    ///
    /// Returns all violations as [`validate`](Self::validate) does, unless `may_be_repaired` returns true.
    #[doc(hidden)]
    pub fn validate_unless(
        &self,
        instance: &Value,
        repairs: Repairs,
        may_be_repaired: &mut dyn FnMut(&[Violation]) -> bool,
    ) -> Result<(), Violations> {
        self.verdict(instance, Wanted::AllUnless(repairs, may_be_repaired))
    }

    /// Validates a value and returns at most one violation. The choice of that violation is deterministic.
    #[must_use]
    pub fn first_violation(&self, instance: &Value) -> Option<Violation> {
        self.verdict(instance, Wanted::First).err()?.into_vec().into_iter().next()
    }

    /// Returns true if the value matches the schema.
    #[must_use]
    pub fn is_valid(&self, instance: &Value) -> bool {
        let instance = &*held_copy(instance);
        self.checked().is_ok_and(|checked| match checked.cost.exceeded_limit(instance) {
            None => checked.compiled.is_valid(&self.value, self.plan(), instance),
            Some(_) => self.passes_fast_path(instance),
        })
    }

    /// Estimates the cost of validating a value, as a number of visits: pairs of a subschema and a part of the value.
    #[doc(hidden)]
    pub fn check_cost(&self, instance: &Value) -> u64 {
        /// The factor for patterns that need the backtracking engine.
        const BACKTRACKING_FACTOR: u64 = 50;

        self.checked().map_or(1, |checked| {
            let factor = if checked.compiled.has_backtracking_patterns() { BACKTRACKING_FACTOR } else { 1 };
            checked.cost.estimate(instance).saturating_mul(factor)
        })
    }

    /// Validates a value.
    fn verdict(&self, instance: &Value, wanted: Wanted<'_>) -> Result<(), Violations> {
        let instance = &*held_copy(instance);
        let checked = match self.checked() {
            Ok(checked) => checked,
            Err(error) => return Err(Violations::invalid_schema(error)),
        };
        match checked.cost.exceeded_limit(instance) {
            Some(_) if self.passes_fast_path(instance) => Ok(()),
            Some(rule) => Err(Violations::from_size_limit(rule)),
            None => {
                let detail = checked.cost.error_detail(instance);
                checked.compiled.validate(&self.value, self.plan(), self.holds_secret(), instance, detail, wanted)
            }
        }
    }

    /// Returns true if the plan accepts the value. The plan visits each part of a value once, and so is fast enough for
    /// values that exceed the cost limits of the validator.
    fn passes_fast_path(&self, instance: &Value) -> bool {
        let plan = self.plan().filter(|_| !cost::is_deeper(instance, Self::MAX_DEPTH));
        plan.is_some_and(|plan| plan.encode(instance, &mut Vec::new()).is_ok())
    }
}

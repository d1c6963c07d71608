//! Table 5 and Figure 3: what an attack on membership proves, and the losses that it looks at.

use crate::registry::Desk;
use crate::{Item, Result};

/// Said until the attack is here.
const WHY: &str = "thousands of models are attacked there; the attack is not among those of this program yet";

pub(super) fn table(item: Item, _: &Desk) -> Result<Item> {
    Ok(item.skip(WHY))
}

pub(super) fn figure(item: Item, _: &Desk) -> Result<Item> {
    Ok(item.skip(WHY))
}

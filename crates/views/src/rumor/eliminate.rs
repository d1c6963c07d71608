//! Solves the chain's equations, twice at once: for the value, and for the mean number of tellings until the two suspects are even or
//! one of them is seen (which [`super::certify`] needs).
//!
//! A telling changes each count by at most one, so the equations are tridiagonal: in blocks along the larger of the two counts, or
//! in single numbers for totals. They are eliminated from the largest count down; no entry of the result is a difference of large ones.

use sottovoce_dense::{Lu, Mat};

use super::chain::{Chain, Split};

/// By state: the value, and the mean number of tellings.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Solved {
    pub(super) value: Vec<f64>,
    pub(super) tellings: Vec<f64>,
}

/// Where a state of the chain is in the solution.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// Blocks, and states in each.
    pub(super) blocks: usize,
    pub(super) width: usize,
    /// Whether blocks are numbers of honest peers, or of curious ones.
    by_honest: bool,
}

impl Layout {
    pub(super) fn of(chain: &Chain) -> Self {
        let (honest, curious) = (chain.others + 1, chain.curious + 1);
        let by_honest = honest >= curious;
        Self { blocks: honest.max(curious), width: honest.min(curious), by_honest }
    }

    /// The block and the place in it.
    fn place(&self, k: usize, c: usize) -> (usize, usize) {
        if self.by_honest { (k, c) } else { (c, k) }
    }

    /// `(k, c)` of a state.
    pub(super) fn state(&self, index: usize) -> (usize, usize) {
        let (block, place) = (index / self.width, index % self.width);
        if self.by_honest { (block, place) } else { (place, block) }
    }

    pub(super) fn index(&self, k: usize, c: usize) -> usize {
        let (block, place) = self.place(k, c);
        block * self.width + place
    }
}

/// One block after elimination: its states are `slope` times those of the block before, plus `offset` (value and tellings).
struct Block {
    slope: Mat,
    offset: Mat,
}

/// All states.
pub(super) fn states(chain: &Chain, layout: &Layout) -> Solved {
    let mut blocks: Vec<Block> = Vec::with_capacity(layout.blocks);
    for block in (0..layout.blocks).rev() {
        sottovoce_fault::stop::look();
        let next = eliminate(chain, layout, block, blocks.last());
        blocks.push(next);
    }
    let mut now = Mat::zeros(layout.width, 2);
    let mut solved = Solved { value: Vec::new(), tellings: Vec::new() };
    while let Some(block) = blocks.pop() {
        sottovoce_fault::stop::look();
        now = &block.slope * &now + &block.offset;
        solved.value.extend((0..layout.width).map(|i| now[(i, 0)]));
        solved.tellings.extend((0..layout.width).map(|i| now[(i, 1)]));
    }
    solved
}

fn eliminate(chain: &Chain, layout: &Layout, block: usize, above: Option<&Block>) -> Block {
    let width = layout.width;
    let mut own = Mat::identity(width);
    let mut slope = Mat::zeros(width, width);
    let mut offset = Mat::zeros(width, 2);
    for row in 0..width {
        let (k, c) = layout.state(block * width + row);
        offset[(row, 0)] = chain.reward(k, c);
        offset[(row, 1)] = 1.0;
        chain.each(k, c, |k, c, p| {
            let (to, place) = layout.place(k, c);
            match above.filter(|_| to > block) {
                Some(above) => {
                    (0..width).for_each(|j| own[(row, j)] -= p * above.slope[(place, j)]);
                    (0..2).for_each(|j| offset[(row, j)] += p * above.offset[(place, j)]);
                }
                None if to == block => own[(row, place)] -= p,
                None => slope[(row, place)] += p,
            }
        });
    }
    let factors = Lu::new(&own);
    factors.solve(&mut slope);
    factors.solve(&mut offset);
    Block { slope, offset }
}

/// Totals alone.
pub(super) fn totals(chain: &Chain, split: Split) -> Solved {
    let most = chain.most();
    // By total: slope, and offsets of value and tellings.
    let mut rows = vec![[0.0; 3]; most + 1];
    let mut above = [0.0; 3];
    for a in (0..=most).rev() {
        let [down, stay, up] = chain.total(a, split);
        let own = 1.0 - stay - up * above[0];
        above = [down / own, (chain.reward(a, 0) + up * above[1]) / own, (1.0 + up * above[2]) / own];
        rows[a] = above;
    }
    let (mut value, mut tellings) = (0.0, 0.0);
    let mut solved = Solved { value: Vec::with_capacity(most + 1), tellings: Vec::with_capacity(most + 1) };
    for [slope, of_value, of_tellings] in rows {
        (value, tellings) = (slope * value + of_value, slope * tellings + of_tellings);
        solved.value.push(value);
        solved.tellings.push(tellings);
    }
    solved
}

//! Who learns from which images, and what models are judged on.

use sottovoce_learning::Images;

use crate::Result;

/// Images of each agent, and those that nobody learns from.
#[derive(Debug, Clone, PartialEq)]
pub struct Holdings {
    /// Each agent's own.
    pub rows: Vec<Images>,
    /// What is told of models is told on these.
    pub test: Images,
}

impl Holdings {
    /// Dealt out by the matrix `A(t)`: everybody the same share of every class at 0, classes of one's own at 1.
    ///
    /// ```
    /// use sottovoce_engine::deep::Holdings;
    /// use sottovoce_learning::images::drawn;
    /// let dealt = Holdings::dealt(&drawn(60, 1)?, drawn(20, 2)?, 3, 0.5, 7)?;
    /// assert_eq!(dealt.sizes().iter().sum::<usize>(), 60);
    /// # Ok::<(), sottovoce_engine::Error>(())
    /// ```
    pub fn dealt(train: &Images, test: Images, agents: usize, t: f64, seed: u64) -> Result<Self> {
        let lists = train.similarity(agents, t, seed)?;
        let rows = lists.iter().map(|list| Ok(train.gather(list)?)).collect::<Result<_>>()?;
        Ok(Self { rows, test })
    }

    /// All of them at one place.
    pub fn pooled(train: Images, test: Images) -> Self {
        Self { rows: vec![train], test }
    }

    /// How many images each agent has.
    pub fn sizes(&self) -> Vec<usize> {
        self.rows.iter().map(Images::len).collect()
    }
}

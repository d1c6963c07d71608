//! What came of it for each agent, and by how many rows she has.

use serde::Serialize;
use sottovoce_learning::Measures;
use sottovoce_learning::personal::Agents;

/// Most groups by size.
const GROUPS: usize = 5;

/// What came of it for an agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Person {
    /// Her number.
    pub agent: usize,
    /// What she is called; none where agents have no names but their numbers.
    pub name: Option<String>,
    /// Her rows.
    pub rows: usize,
    /// Her private updates.
    pub updates: usize,
    /// What one of her rows lost at most; none where it was not hidden.
    pub epsilon: Option<f64>,
    /// The worth of her model as released; none without rows to test on.
    pub released: Option<f64>,
    /// After she solved her own block.
    pub own: Option<f64>,
    /// Alone, with the ridge of the joint problem.
    pub local: Option<f64>,
    /// Alone, with a ridge chosen on her own rows.
    pub tuned: Option<f64>,
}

impl Person {
    /// Her name, or else her number.
    pub fn called(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.agent.to_string())
    }
}

/// Agents with about as many rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BySize {
    /// The fewest rows of them.
    pub fewest: usize,
    /// The most rows of them.
    pub most: usize,
    /// How many they are.
    pub agents: usize,
    /// Means over them, as of a [`Person`].
    pub released: Option<f64>,
    /// After the own solve.
    pub own: Option<f64>,
    /// Alone, with the ridge of the joint problem.
    pub local: Option<f64>,
    /// Alone, with a ridge chosen on her own rows.
    pub tuned: Option<f64>,
}

/// Everybody, from all models: released, own, local, tuned.
pub(super) fn people(
    agents: &Agents,
    epsilons: &[f64],
    updates: &[usize],
    [released, own, local, tuned]: [&[f64]; 4],
) -> Vec<Person> {
    let worth = |models: &[f64], agent: usize| {
        let model = &models[agent * agents.width()..][..agents.width()];
        agents.worth(agent, model).map(|measures| match measures {
            Measures::Classes { accuracy } => accuracy,
            Measures::Numbers { rmse, .. } => rmse,
        })
    };
    let one = |agent: usize| Person {
        agent,
        name: agents.train.names().map(|names| names[agent].clone()),
        rows: agents.train.rows_of(agent),
        updates: updates[agent],
        epsilon: Some(epsilons[agent]).filter(|epsilon| epsilon.is_finite()),
        released: worth(released, agent),
        own: worth(own, agent),
        local: worth(local, agent),
        tuned: worth(tuned, agent),
    };
    (0..agents.count()).map(one).collect()
}

/// Groups of about as many agents, from the fewest rows to the most. Those of equal size stay together.
pub(super) fn by_size(people: &[Person]) -> Vec<BySize> {
    let mut sorted: Vec<&Person> = people.iter().collect();
    sorted.sort_by_key(|person| (person.rows, person.agent));
    let each = sorted.len().div_ceil(GROUPS).max(1); // whole numbers
    let mut groups: Vec<Vec<&Person>> = Vec::new();
    for same in sorted.chunk_by(|one, other| one.rows == other.rows) {
        match groups.last_mut().filter(|group| group.len() < each) {
            Some(group) => group.extend(same),
            None => groups.push(same.to_vec()),
        }
    }
    groups.iter().map(|group| of_group(group)).collect()
}

fn of_group(group: &[&Person]) -> BySize {
    let mean = |of: fn(&Person) -> Option<f64>| {
        let all: Vec<f64> = group.iter().filter_map(|person| of(person)).collect();
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    };
    let rows = |person: Option<&&Person>| person.map_or(0, |person| person.rows);
    BySize {
        fewest: rows(group.first()),
        most: rows(group.last()),
        agents: group.len(),
        released: mean(|person| person.released),
        own: mean(|person| person.own),
        local: mean(|person| person.local),
        tuned: mean(|person| person.tuned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_about_as_large_and_sizes_stay_together() {
        let person = |agent: usize| Person {
            agent,
            name: None,
            rows: agent / 3,
            updates: 1,
            epsilon: Some(1.0),
            released: Some(agent as f64),
            own: None,
            local: None,
            tuned: None,
        };
        let all: Vec<Person> = (0..30).map(person).collect();
        let groups = by_size(&all);
        assert_eq!(groups.iter().map(|group| group.agents).sum::<usize>(), 30);
        assert_eq!((groups.len(), groups[0].fewest, groups[0].most), (5, 0, 1));
        assert_eq!((groups[0].released, groups[0].own), (Some(2.5), None));
        assert!(by_size(&[]).is_empty());
    }
}

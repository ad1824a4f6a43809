//! An in-memory copy of the vectors of an index, for exhaustive search.

use super::quantized::cosine;
use rusqlite::Connection;
use std::collections::HashMap;

/// A copy of the table `vector`. 100,000 vectors of 384 dimensions take about 45 MB.
#[derive(Debug, Default)]
pub struct VectorCache {
    dimensions: usize,
    chunks: Vec<i64>,
    /// The vectors of `chunks` one after the other.
    components: Vec<i8>,
    /// The position of each chunk in `chunks`.
    positions: HashMap<i64, usize>,
    /// The result of `PRAGMA data_version` when the table was read. It changes when another
    /// connection writes.
    data_version: Option<i64>,
}

impl VectorCache {
    /// Reads the table, unless the cache is up to date.
    pub fn load(&mut self, connection: &Connection, dimensions: usize) -> rusqlite::Result<()> {
        let version: i64 = connection.pragma_query_value(None, "data_version", |row| row.get(0))?;
        if self.data_version == Some(version) && self.dimensions == dimensions {
            return Ok(());
        }
        *self = Self {
            dimensions,
            ..Self::default()
        };
        let mut statement = connection.prepare_cached("SELECT chunk, components FROM vector")?;
        let mut rows = statement.query(())?;
        while let Some(row) = rows.next()? {
            let components = row.get_ref(1)?.as_blob().unwrap_or_default();
            self.insert(row.get(0)?, components);
        }
        self.data_version = Some(version);
        Ok(())
    }

    /// Drops everything, so that the next search reads the table again.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds a vector stored as bytes. Vectors of other dimensions are ignored.
    pub fn insert(&mut self, chunk: i64, components: &[u8]) {
        if components.len() != self.dimensions || self.dimensions == 0 {
            return;
        }
        self.remove(chunk);
        self.positions.insert(chunk, self.chunks.len());
        self.chunks.push(chunk);
        self.components
            .extend(components.iter().map(|byte| *byte as i8));
    }

    pub fn remove(&mut self, chunk: i64) {
        let Some(position) = self.positions.remove(&chunk) else {
            return;
        };
        self.chunks.swap_remove(position);
        let last = self.chunks.len() * self.dimensions;
        let from = position * self.dimensions;
        if from < last {
            self.components.copy_within(last.., from);
            self.positions.insert(self.chunks[position], position);
        }
        self.components.truncate(last);
    }

    /// The chunks most similar to `vector`, the most similar first.
    pub fn nearest(&self, vector: &[i8], count: usize) -> Vec<(i64, f32)> {
        if vector.len() != self.dimensions || count == 0 {
            return Vec::new();
        }
        let similarities = self.components.chunks_exact(self.dimensions);
        let similarities = similarities.map(|components| cosine(vector, components));
        let mut found: Vec<(i64, f32)> = self.chunks.iter().copied().zip(similarities).collect();
        let by_similarity =
            |a: &(i64, f32), b: &(i64, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if found.len() > count {
            found.select_nth_unstable_by(count, by_similarity);
            found.truncate(count);
        }
        found.sort_by(by_similarity);
        found
    }

    pub fn similarity(&self, vector: &[i8], chunk: i64) -> Option<f32> {
        let from = self.positions.get(&chunk)? * self.dimensions;
        let components = self.components.get(from..from + self.dimensions)?;
        (vector.len() == self.dimensions).then(|| cosine(vector, components))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removing_vectors_keeps_the_others() {
        let mut cache = VectorCache {
            dimensions: 2,
            ..VectorCache::default()
        };
        for chunk in 1..=4 {
            cache.insert(chunk, &[chunk as u8 * 10, 0]);
        }
        cache.remove(2);
        cache.remove(4);
        cache.insert(5, &[0, 100]);
        cache.insert(6, &[1, 2, 3]);
        assert_eq!(cache.similarity(&[127, 0], 3), Some(30.0 / 127.0));
        assert_eq!(cache.similarity(&[127, 0], 2), None);
        let nearest = cache.nearest(&[127, 0], 2);
        assert_eq!(nearest.iter().map(|hit| hit.0).collect::<Vec<_>>(), [3, 1]);
        assert_eq!(cache.nearest(&[0, 127], 1)[0].0, 5);
        assert_eq!(cache.nearest(&[127], 3), []);
    }
}

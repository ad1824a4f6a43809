//! Whole documents: finding those that contain all words of a query, and reading their details.

use super::terms::SearchTerms;
use super::{DocumentFingerprint, Index, SearchError};
use std::collections::HashSet;

impl Index {
    /// Passes the key, the fingerprint and the details of each document to `on_document`, without
    /// copying them.
    pub fn visit_details(
        &self,
        mut on_document: impl FnMut(&str, DocumentFingerprint, &str),
    ) -> Result<(), SearchError> {
        let query = "SELECT key, size, modified_ns, details FROM document";
        let mut statement = self.connection.prepare_cached(query)?;
        let mut rows = statement.query(())?;
        while let Some(row) = rows.next()? {
            let fingerprint = DocumentFingerprint {
                size: row.get::<_, i64>(1)?.cast_unsigned(),
                modified_ns: row.get(2)?,
            };
            let text = |column| row.get_ref(column)?.as_str().map_err(rusqlite::Error::from);
            on_document(text(0)?, fingerprint, text(3)?);
        }
        Ok(())
    }

    /// The keys of the documents that contain every term, not necessarily in the same chunk. A term of
    /// at least three letters may be the beginning of a longer word.
    ///
    /// # Errors
    /// The index cannot be read, or the search takes over 3 s.
    pub fn documents_with_all(
        &mut self,
        terms: &SearchTerms,
    ) -> Result<HashSet<String>, SearchError> {
        self.with_timeout(|index| index.matching_documents(terms))
    }

    fn matching_documents(&self, terms: &SearchTerms) -> Result<HashSet<String>, SearchError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT DISTINCT chunk.document FROM terms JOIN chunk ON chunk.id = terms.rowid
             WHERE terms MATCH ?1",
        )?;
        let mut common: Option<HashSet<i64>> = None;
        for expression in terms.prefix_expressions() {
            let rows = statement.query_map([expression], |row| row.get(0))?;
            let found: HashSet<i64> = rows.collect::<Result<_, _>>()?;
            common = Some(match common {
                None => found,
                Some(common) => common.intersection(&found).copied().collect(),
            });
        }
        let common = common.unwrap_or_default();
        let query = "SELECT id, key FROM document";
        let mut statement = self.connection.prepare_cached(query)?;
        let rows = statement.query_map((), |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)))?;
        let mut keys = HashSet::new();
        for row in rows {
            let (id, key) = row?;
            if common.contains(&id) {
                keys.insert(key);
            }
        }
        Ok(keys)
    }
}

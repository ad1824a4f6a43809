//! Import graph of `src`, derived from the source text.
//!
//! An edge goes from a file that names an item to the file that defines the item. `use` and
//! qualified paths count; method calls do not. Re-exports are followed to the definition. Test
//! code is ignored.

use super::source::{is_word, module, split_literals};
use super::{code, sources};
use std::collections::{BTreeMap, BTreeSet};

/// Segments of a module path below the crate: `["tui", "view"]`.
type Module = Vec<String>;

const IMPORT_CYCLE_FILES_MAX: usize = 4;

/// Path segments of an import, and its local name.
type Import = (Vec<String>, String);

#[derive(Default)]
struct File {
    text: String,
    imports: Vec<Import>,
    /// Re-exports by name.
    exports: BTreeMap<String, Vec<Module>>,
}

struct Crate(BTreeMap<Module, File>);

impl Crate {
    /// Reads all files of the library that are compiled without tests.
    fn read() -> Self {
        let texts: BTreeMap<Module, String> = sources("src")
            .into_iter()
            .filter(|(path, _)| path != "src/main.rs")
            .map(|(path, text)| (module(&path), split_literals(&code(&text)).0))
            .collect();
        let mut files: BTreeMap<Module, File> = BTreeMap::new();
        let mut pending = vec![Module::new()];
        while let Some(module) = pending.pop() {
            let text = texts[&module].clone();
            for name in declared_modules(&text) {
                let child = [module.as_slice(), &[name]].concat();
                if texts.contains_key(&child) {
                    pending.push(child);
                }
            }
            files.insert(
                module,
                File {
                    text,
                    ..File::default()
                },
            );
        }
        let mut graph = Self(files);
        let modules: Vec<Module> = graph.0.keys().cloned().collect();
        for module in modules {
            let text = graph.0[&module].text.clone();
            for (is_reexport, (path, name)) in imports(&text) {
                let Some(path) = graph.absolute(&module, &path) else {
                    continue;
                };
                let file = graph.0.get_mut(&module).expect("just listed");
                if is_reexport {
                    file.exports
                        .entry(name.clone())
                        .or_default()
                        .push(path.clone());
                }
                file.imports.push((path, name));
            }
        }
        graph
    }

    /// The path from the crate root; `None` unless it starts with `crate`, `self`, `super` or a
    /// child module.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([module.as_slice(), rest].concat()),
            "super" => {
                let (_, parent) = module.split_last()?;
                match rest.first().map(String::as_str) {
                    Some("super") => self.absolute(&parent.to_vec(), rest),
                    _ => Some([parent, rest].concat()),
                }
            }
            _ => {
                let child = [module.as_slice(), std::slice::from_ref(first)].concat();
                let is_child = self.0.contains_key(&child);
                is_child.then(|| [module.as_slice(), path].concat())
            }
        }
    }

    /// The file that defines an item; `None` if the path names a module.
    fn defining_file(&self, path: &[String], depth: usize) -> Option<Module> {
        let end = (0..=path.len())
            .rev()
            .find(|end| self.0.contains_key(&path[..*end]))?;
        let (module, rest) = path.split_at(end);
        let name = rest.first()?;
        let exported = self.0[module].exports.get(name).into_iter().flatten();
        let mut sources = exported.filter_map(|from| {
            let path = [from.as_slice(), &rest[1..]].concat();
            (depth < 8).then(|| self.defining_file(&path, depth + 1))?
        });
        Some(sources.next().unwrap_or_else(|| module.to_vec()))
    }

    /// For each file, the files whose items it names.
    fn edges(&self) -> BTreeMap<&Module, BTreeSet<Module>> {
        let edges = |(module, file): (&Module, &File)| {
            let mut paths: Vec<Vec<String>> = Vec::new();
            for (path, name) in &file.imports {
                if !file.exports.contains_key(name) {
                    paths.push(path.clone());
                }
            }
            for path in qualified_paths(&file.text) {
                let imported = file.imports.iter().find(|(_, name)| *name == path[0]);
                match imported {
                    Some((base, _)) => paths.push([base.as_slice(), &path[1..]].concat()),
                    None => paths.extend(self.absolute(module, &path)),
                }
            }
            paths
                .iter()
                .filter_map(|path| self.defining_file(path, 0))
                .filter(|to| to != module)
                .collect()
        };
        self.0.iter().map(|file| (file.0, edges(file))).collect()
    }
}

/// Module names declared with `mod NAME;`.
fn declared_modules(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| {
            let (before, name) = line.trim().strip_suffix(';')?.rsplit_once("mod ")?;
            let is_module = before.is_empty() || before.trim_end().starts_with("pub");
            is_module.then(|| name.to_owned())
        })
        .collect()
}

/// All imports, each with a flag for `pub use`.
fn imports(text: &str) -> Vec<(bool, Import)> {
    let mut imports = Vec::new();
    for (index, _) in text.match_indices("use ") {
        let before = &text[..index];
        if before.ends_with(is_word) {
            continue;
        }
        let Some((tree, _)) = text[index + 4..].split_once(';') else {
            continue;
        };
        let line = before.rsplit('\n').next().unwrap_or_default();
        let is_reexport = line.trim_start().starts_with("pub");
        let leaves = leaves(tree).into_iter();
        imports.extend(leaves.map(|leaf| (is_reexport, leaf)));
    }
    imports
}

/// The individual imports of `a::{b, c::{self, d as e}}`.
fn leaves(tree: &str) -> Vec<Import> {
    let tree = tree.trim();
    let segments = |path: &str| -> Vec<String> {
        path.split("::")
            .map(str::trim)
            .filter(|segment| !segment.is_empty())
            .map(str::to_owned)
            .collect()
    };
    if let Some((before, inside)) = tree.split_once('{') {
        let inside = inside.strip_suffix('}').unwrap_or(inside);
        let before = segments(before);
        let mut depth = 0;
        let parts = inside.split(|c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == ',' && depth == 0
        });
        return parts
            .filter(|part| !part.trim().is_empty())
            .flat_map(leaves)
            .map(|(path, name)| {
                let path = [before.as_slice(), &path].concat();
                let name = match name.is_empty() {
                    true => path.last().cloned().unwrap_or_default(),
                    false => name,
                };
                (path, name)
            })
            .collect();
    }
    let (path, alias) = match tree.split_once(" as ") {
        Some((path, alias)) => (path, Some(alias.trim().to_owned())),
        None => (tree, None),
    };
    let mut path = segments(path);
    if path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let name = alias.or_else(|| path.last().cloned()).unwrap_or_default();
    vec![(path, name)]
}

/// The paths that contain `::`, except those in `use`.
fn qualified_paths(text: &str) -> Vec<Vec<String>> {
    let mut without_imports = String::new();
    let mut tail = text;
    while let Some(index) = tail.find("use ") {
        let (before, import) = tail.split_at(index);
        without_imports.push_str(before);
        tail = match before.ends_with(is_word) {
            true => {
                without_imports.push_str("use ");
                &import[4..]
            }
            false => import.split_once(';').map_or("", |(_, after)| after),
        };
    }
    without_imports.push_str(tail);
    without_imports
        .split(|c: char| !is_word(c) && c != ':')
        .map(|path| path.trim_matches(':'))
        .filter(|path| path.contains("::"))
        .map(|path| path.split("::").map(str::to_owned).collect())
        .collect()
}

/// Groups of files that all import each other, directly or indirectly.
fn cycles(edges: &BTreeMap<&Module, BTreeSet<Module>>) -> Vec<Vec<String>> {
    let reachable: BTreeMap<&Module, BTreeSet<&Module>> = edges
        .keys()
        .map(|module| (*module, reachable_files(edges, module)))
        .collect();
    let mut cycles: Vec<Vec<String>> = Vec::new();
    let mut grouped: BTreeSet<&Module> = BTreeSet::new();
    for (module, leads_to) in &reachable {
        if grouped.contains(module) || !leads_to.contains(module) {
            continue;
        }
        let leads_back =
            |other: &&Module| reachable.get(*other).is_some_and(|to| to.contains(module));
        let cycle: Vec<&Module> = leads_to.iter().copied().filter(leads_back).collect();
        cycles.push(cycle.iter().map(|module| module.join("::")).collect());
        grouped.extend(cycle);
    }
    cycles
}

/// All files reachable from `from`; includes `from` only in a cycle.
fn reachable_files<'a>(
    edges: &'a BTreeMap<&Module, BTreeSet<Module>>,
    from: &Module,
) -> BTreeSet<&'a Module> {
    let mut seen = BTreeSet::new();
    let mut pending = vec![from.clone()];
    while let Some(module) = pending.pop() {
        for next in edges.get(&module).into_iter().flatten() {
            if seen.insert(next) {
                pending.push(next.clone());
            }
        }
    }
    seen
}

#[test]
fn import_cycles_span_at_most_four_files() {
    let graph = Crate::read();
    let edges = graph.edges();
    let count: usize = edges.values().map(BTreeSet::len).sum();
    assert!(count > 500, "only {count} imports were found");
    let mut cycles = cycles(&edges);
    cycles.retain(|cycle| cycle.len() > IMPORT_CYCLE_FILES_MAX);
    assert!(cycles.is_empty(), "{cycles:#?}");
}

#[test]
fn imports_and_cycles_are_recognized() {
    let path = |path: &str| -> Vec<String> { path.split("::").map(str::to_owned).collect() };
    let imports = leaves("super::{a::{self, B}, c as d, E}");
    let expected = [
        ("super::a", "a"),
        ("super::a::B", "B"),
        ("super::c", "d"),
        ("super::E", "E"),
    ];
    let expected = expected.map(|(from, name)| (path(from), name.to_owned()));
    assert_eq!(imports, expected);
    let code = "let a = b::C::new(); // x::Y\nuse q::R;\nlet s = \"m::N\"; d::e()";
    assert_eq!(
        qualified_paths(&split_literals(code).0),
        [path("b::C::new"), path("d::e")]
    );
    let modules = ["a", "b", "c"].map(|name| vec![name.to_owned()]);
    let [a, b, c] = &modules;
    let edges = BTreeMap::from([
        (a, BTreeSet::from([b.clone()])),
        (b, BTreeSet::from([a.clone(), c.clone()])),
        (c, BTreeSet::new()),
    ]);
    assert_eq!(cycles(&edges), [["a", "b"]]);
}

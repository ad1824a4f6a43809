//! Postal abbreviations of US states: people and models write `Austin, TX`, but the geocoding
//! service knows only the full names.

const STATES: &str = "al Alabama,ak Alaska,az Arizona,ar Arkansas,ca California,co Colorado,\
    ct Connecticut,de Delaware,dc District of Columbia,fl Florida,ga Georgia,hi Hawaii,id Idaho,\
    il Illinois,in Indiana,ia Iowa,ks Kansas,ky Kentucky,la Louisiana,me Maine,md Maryland,\
    ma Massachusetts,mi Michigan,mn Minnesota,ms Mississippi,mo Missouri,mt Montana,ne Nebraska,\
    nv Nevada,nh New Hampshire,nj New Jersey,nm New Mexico,ny New York,nc North Carolina,\
    nd North Dakota,oh Ohio,ok Oklahoma,or Oregon,pa Pennsylvania,ri Rhode Island,\
    sc South Carolina,sd South Dakota,tn Tennessee,tx Texas,ut Utah,vt Vermont,va Virginia,\
    wa Washington,wv West Virginia,wi Wisconsin,wy Wyoming";

/// The state with this abbreviation in lowercase.
pub fn state_name(abbreviation: &str) -> Option<&'static str> {
    let mut states = STATES.split(',').filter_map(|state| state.split_once(' '));
    let state = states.find(|(short, _)| *short == abbreviation);
    state.map(|(_, name)| name)
}

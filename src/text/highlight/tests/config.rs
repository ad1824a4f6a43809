//! Samples of data, configuration and markup, annotated as in [`super::braces`].

pub const SAMPLES: &[(&str, &str)] = &[
    (
        "json",
        r###"{«key:"a"»: [«num:1», -«num:2.5e3», «num:true», «num:null», «txt:"b"»], «key:"c"» : {«key:"d\""»: «txt:"e"»}} «com:// c»"###,
    ),
    (
        "json5",
        r###"{ «key:a»: «txt:'x'», «key:$b»: «num:0xFF» }"###,
    ),
    (
        "yaml",
        r###"«head:---» «com:# c»
«key:key»: value «com:# c»
«key:"quoted key"»: «txt:"text"»
«key:list»: [a, «num:1», {«key:b»: «num:true»}]
  «kw:-» «key:name»: «ty:&x» foo
    «key:run»: «kw:|»
«txt:      echo hi»

«txt:      x: y»
    «key:next»: «ty:*x»
«key:time»: «num:12:30:01»
«key:url»: http://x.y/#z
«kw:-» «kw:|»
«txt:  text»
«kw:-» a"###,
    ),
    (
        "yaml",
        r###"«key:a»: «txt:"x»
«txt:  y"» «com:# c»
«key:b»:
  «kw:-» «key:c»: «kw:>-»
«txt:      text»
    «key:d»: «num:1»"###,
    ),
    (
        "toml",
        r###"«head:[package.x]» «com:# c»
«key:name» = «txt:"x"»
«key:deps» = { «key:version» = «txt:"1"», «key:features» = [«txt:"a"»], «key:optional» = «num:true» }
a.«key:"b c"» = «txt:'x'»
«key:date» = «num:2020-01-01»
«key:x» = [
[«num:1», «num:2»],
]"###,
    ),
    (
        "ini",
        r###"«head:[section]»
«key:key» = value «com:; c»
«key:n»=«num:10»
«com:# c»"###,
    ),
    (
        "html",
        r###"«kw:<!DOCTYPE» «key:html»«kw:>»«com:<!-- c»
«com:d -->»«kw:<a» «key:href»=«txt:"x"» «key:disabled» «key:data-x»=«txt:y»«kw:>»text «num:&amp;» it's«kw:</a><br/>»
«kw:<script» «key:type»=«txt:"module"»«kw:>»
«kw:const» x = «txt:"a"»; «com:// b»
«kw:</script><style>»
«kw:a»«fn::hover» { «key:color»: «num:#fff»; }
«kw:</style>»"###,
    ),
    (
        "html",
        r###"«kw:<p» «key:style»=«txt:"x»
«txt:y"»«kw:>»a«kw:</p>» <
«kw:<script>let» s = «txt:`a»
«txt:b`»; «kw:if» (a < b) {}«kw:</script><i>»x«kw:</i>»"###,
    ),
    (
        "xml",
        r###"«kw:<?xml» «key:version»=«txt:"1.0"»«kw:?><a:b» «key:c»=«txt:'d'»«kw:>»«txt:<![CDATA[ x < y ]]>»«kw:</a:b>»"###,
    ),
    (
        "vue",
        r###"«kw:<div» «key:v-if»=«txt:"a > b"» «key:@click»=«txt:"x"» «key::key»=«txt:"y"»«kw:>»{{ z }}«kw:</div>»"###,
    ),
    (
        "scss",
        r###"«key:$c»: «num:#fff»; «com:// c»
«ty:.foo» > «kw:a»«fn::hover», «ty:#id»«fn:::before» { «key:color»: red «kw:!important»; «key:width»: «fn:calc»(«num:100%» - «num:10px»); «kw:&»«fn::not»(«ty:.x») { «key:margin»: «num:0» auto } «key:background»: «fn:url»(«txt:http://x/y») }
«kw:@media» («key:max-width»: «num:10px») { «kw:a» { «key:--x»: «num:1px»; «key:y»: «fn:var»(«key:--x») } }
«kw:body» {
  «key:font-family»: «txt:"A"»,
    serif;
  «key:transition»: all «num:.2s»
}"###,
    ),
    (
        "md",
        r###"«head:# Title»
«kw:-» item with «txt:`code`» and [link](«key:http://x») 
«kw:1.» one
«com:>» quote
«com:```rust»
«kw:let» x = «num:1»;
«com:```»
«com:<!-- c»
«com:d -->» text"###,
    ),
    (
        "md",
        r###"«com:```php»
«key:$x» = «num:1»;
«com:```»
«com:~~~~nope»
«txt:~~~»
«txt:x»
«com:~~~~»
«txt:``a`b``» `c"###,
    ),
    (
        "diff",
        r###"«com:diff --git a/x b/x»
«head:--- a/x»
«head:+++ b/x»
«head:@@ -1,2 +1,2 @@ fn»
 ctx
«del:-old»
«add:+new»
«del:--- sql comment»"###,
    ),
];

//! Samples of all languages with braces: the info string of a fence, and code in which each token
//! is annotated with its kind.

pub const SAMPLES: &[(&str, &str)] = &[
    (
        "rust,ignore",
        r###"«fn:#[derive»(«ty:Debug», «ty:Clone»)]
«kw:pub» «kw:fn» «fn:main»<«ty:'a»>(x: &«ty:'a» «ty:str») -> «ty:Option»<«ty:u8»> { «com:// hi»
    «kw:let» s = «txt:r#"raw "x" "#»; «kw:let» c = «txt:'x'»; «kw:let» d = «txt:'\''»; «fn:println!»(«txt:"{x} é한"», «num:1_000u32»);
    «com:/* a /* b»
«com:    */ c */» «kw:let» y = «num:0»..«num:10»; «kw:self».«fn:map»(|x| x.«num:0.1»).«kw:await»?; «num:MAX_LEN»; «ty:Some»(«num:1»)
    «kw:let» s = «txt:"abc»
«txt:    def"»; «ty:'outer»: «kw:loop» {}"###,
    ),
    (
        "rust,ignore",
        r###"«kw:impl»<«ty:T»: «ty:Into»<«ty:String»>> «ty:Foo» «kw:for» «ty:Vec»<«ty:T»> «kw:where» «ty:Self»: «ty:Sized» {}
«txt:r##"a "# b»
«txt:"##»; b«txt:'x'»; «txt:b"y"»; «ty:'a»: «num:1.5e-3f64»
«kw:const» 이름: &«ty:str» = «txt:"안녕 🦀"»; «com:// 한글»"###,
    ),
    (
        "js:app.js",
        r###"«kw:const» re = «txt:/["']\/[/]/gi», x = a / b / c; «com:// c»
«kw:const» t = «txt:`a »${b ? «txt:`c »${d}«txt:`» : {e: «num:1»}}«txt: f`»;
«kw:async» «kw:function» «fn:go»() { «kw:return» «kw:await» «fn:fetch»(url, { «kw:default»: «num:1» }); }
«kw:const» el = «kw:<div» className=«txt:"x"»>don't</div>;
«kw:class» «ty:A» «kw:extends» «ty:B» { #priv = «num:1»; «kw:static» x = «kw:this».y.«fn:delete»(«num:1») }"###,
    ),
    ("js:app.js", r###"x = a++ / «num:2» / «txt:"b"»"###),
    (
        "tsx",
        r###"«kw:export» «kw:interface» «ty:Props»<«ty:T»> { name: «ty:string»; n?: «ty:number» }
«kw:const» f = (x: «ty:Array»<«ty:string»>): «ty:Promise»<«kw:void»> => {};"###,
    ),
    (
        "tsx",
        r###"«kw:return» «kw:<Foo».«ty:Bar» key=«txt:"a"»>{x}«kw:</Foo».«ty:Bar»>;"###,
    ),
    (
        "java",
        r###"«fn:@Override» «kw:public» «kw:static» «ty:void» «fn:main»(«ty:String»[] args) «kw:throws» «ty:IOException» { «ty:System».out.«fn:println»(«txt:"x"» + «txt:'c'»); }"###,
    ),
    (
        "kotlin",
        r###"«kw:data» «kw:class» «ty:User»(«kw:val» name: «ty:String») { «kw:fun» «fn:hi»() = «txt:"Hello »${name.«fn:trim»()}«txt: and »«key:$name»«txt:"» }"###,
    ),
    (
        "c",
        r###"«kw:#include» «txt:<stdio.h>»
«kw:#define» «num:MAX» «num:10»
«kw:struct» «ty:foo» *p = («kw:struct» «ty:foo» *)«fn:malloc»(«kw:sizeof»(«ty:int») * «num:MAX»); «com:/* c */» «ty:char» c = «txt:'\n'»;"###,
    ),
    (
        "c++",
        r###"«kw:auto» s = «txt:R"x(a )" b)x"»; std::«ty:vector»<«ty:int»> v{«num:1'000», «num:0xFFu»}; «kw:template» <«kw:typename» «ty:T»> «kw:class» «ty:Foo» : «kw:public» «ty:Bar» {};"###,
    ),
    (
        "c#",
        r###"«kw:var» s = «txt:$"a »{x.«ty:Y»:«num:N2»}«txt: b {{"»; «ty:string» p = «txt:@"C:\x"»; «kw:public» «kw:async» «ty:Task»<«ty:int»> «fn:GoAsync»() => «kw:await» «ty:Foo».«fn:Bar»(«num:1»);"###,
    ),
    (
        "go",
        r###"«kw:func» (r *«ty:Recv») «fn:Name»(a «ty:string») («ty:int», «ty:error») { x := «txt:`raw \`»; ch <- «txt:'a'»; fmt.«fn:Println»(«fn:len»(a), «num:nil») }"###,
    ),
    (
        "swift",
        r###"«kw:let» s = «txt:"a »\(b.«fn:c»(«txt:"x"»))«txt: d"»; «kw:func» «fn:f»() -> «ty:Int» { «txt:#"raw \n "x""#» } «fn:@State» «kw:var» x: «ty:Int»?"###,
    ),
    (
        "php",
        r###"«kw:<?php»
«kw:namespace» «ty:App»; «key:$x» = «txt:"Hello »«key:$name»«txt:"»; «kw:echo» «key:$this»->«fn:foo»(«num:1»); «com:// c »«kw:?>» «kw:<b>»it's«kw:</b>» «kw:<?=» «key:$y» «kw:?>» «num:&copy;»"###,
    ),
    (
        "php",
        r###"«kw:<html><a» «key:href»=«txt:"»«kw:<?=» «key:$x» «kw:?>»«txt:"»«kw:>»x«kw:</a>»"###,
    ),
    (
        "php",
        r###"«kw:<ul><?php» «kw:foreach» («key:$x» «kw:as» «key:$y»): «kw:?><li» «key:class»=«txt:"»«kw:<?=» «key:$y» «kw:?>»«txt:"»«kw:>»it's«kw:</li><?php» «kw:endforeach» «kw:?>»"###,
    ),
    (
        "php",
        r###"«key:$a» = «txt:<<<EOT»
«txt:text $x»
«txt:EOT»;
«kw:echo» «txt:"b"»;"###,
    ),
    (
        "hcl",
        r###"«kw:resource» «txt:"aws_instance"» «txt:"web"» { «key:ami» = «txt:"a-»${var.x}«txt:"» «key:count» = «num:2» «com:# c»"###,
    ),
];

//! Samples of scripting languages, functional languages and shells, annotated as in
//! [`super::braces`].

pub const SAMPLES: &[(&str, &str)] = &[
    (
        "py",
        r###"«fn:@app.route»(«txt:"/x"»)
«kw:async» «kw:def» «fn:f»(«kw:self», x: «ty:int» = «num:3») -> «num:None»:
    «txt:"""doc»
«txt:    more"""» «com:# c»
    «kw:return» «txt:f"hi »{x!r:>{w}}«txt: {{no}} »{d[«txt:'a'»]}«txt:"» + «txt:r'\d'» + «txt:rb"x"» «kw:if» re.«fn:match»(x) «kw:else» «num:None»
«kw:class» «ty:Foo»(«ty:Bar»): «kw:pass»"###,
    ),
    (
        "py",
        r###"x = «txt:"""»
«txt:it's # no comment»
«txt:"""»"###,
    ),
    (
        "py",
        r###"«com:>>> »«num:1» + «num:1»
«num:2»
s = «txt:f"""a »{x
  + «num:1»}«txt: b"""»"###,
    ),
    (
        "ruby",
        r###"«kw:def» «fn:hi?»(name) = puts «txt:"Hello »#{name.map { |x| «txt:"a"» }}«txt: b"», «num::sym», «key:key»: «num:1» «com:# c»
x = «txt:%w[a b]»; y =~ «txt:/a"b/i»; «key:@iv» = «txt:<<~EOS»
«txt:  text»
«txt:EOS»
«com:=begin»
«com:com»
«com:=end»
«kw:class» «ty:Foo» < «ty:Bar»; «kw:end»"###,
    ),
    (
        "perl",
        r###"«kw:my» («key:$x», «key:@y») = «key:@_»; «key:$x» =~ «txt:s/a"/b/g»; «kw:my» «key:@w» = «txt:qw(a b)»; «kw:print» «txt:"hi »«key:$x»«txt:\n"»; «com:# c»"###,
    ),
    (
        "lua",
        r###"«kw:local» «kw:function» «fn:f»(x) «kw:return» «txt:[[a»
«txt:b]]» .. #x «kw:end» «com:--[[ c»
«com:d ]]» «fn:print»(«txt:"x"») «com:-- e»"###,
    ),
    (
        "r",
        r###"f <- «kw:function»(x.y, ...) { «num:TRUE»; «txt:"a"» } «com:# c»"###,
    ),
    (
        "julia",
        r###"«kw:function» «fn:f»(x::«ty:Int»)::«ty:String»; «txt:"a »$(x + «num:1»)«txt: »«key:$y»«txt:"»; «kw:end»; «ty:A»' * «ty:B»; «num::sym»; «txt:'c'»; «fn:@time» «fn:f»(x) «com:# c»"###,
    ),
    (
        "matlab",
        r###"x = A' * B; s = «txt:'it''s'»; «kw:for» i = «num:1»:«num:3» «com:% c»"###,
    ),
    (
        "sql",
        r###"«kw:SELECT» u.id, «fn:COUNT»(*) «kw:FROM» users u «kw:WHERE» name = «txt:'it''s'» «kw:AND» x «kw:IS» «kw:NOT» «num:NULL» «com:-- c»
«kw:create» «kw:table» foo (id «ty:bigint» «kw:primary» «kw:key», name «ty:varchar»(«num:10»)); «com:/* c */»"###,
    ),
    (
        "latex",
        r###"«kw:\documentclass»{article} «com:% c»
Cost «num:50»\% «txt:$x^2 \alpha$» «kw:\begin»{foo}"###,
    ),
    (
        "haskell",
        r###"foldl' :: (a -> b) -> [a] -> «ty:Maybe» b «com:-- c»
main = «kw:do» { putStrLn «txt:"x"»; «kw:let» c = «txt:'x'» } «com:{- a {- b -} c -}»"###,
    ),
    (
        "ocaml",
        r###"«kw:let» «kw:rec» f (x : «ty:'a» «ty:list») = «kw:match» x «kw:with» [] -> «num:None» | h :: t -> «ty:Some» «txt:'c'» «com:(* c *)»"###,
    ),
    (
        "f#",
        r###"«kw:let» f x = printfn «txt:$"a »{x}«txt:"» «com:// c»"###,
    ),
    (
        "elixir",
        r###"«kw:defmodule» «ty:A».«ty:B» «kw:do» «key:@doc» «txt:"x"»; «kw:def» «fn:f?»(x), «kw:do»: {«num::ok», «txt:"a »#{x}«txt:"», «txt:~r/a"/», «key:key»: «num:1»} «com:# c»"###,
    ),
    (
        "erlang",
        r###"«fn:f»(X) -> io:«fn:format»(«txt:"~p~n"», [X]), «num:ok». «com:% c»"###,
    ),
    (
        "clojure",
        r###"(«kw:defn» «fn:foo-bar» [x] («kw:let» [y («fn:inc» x)] {«key::a» «num:1» «key::b/c» «txt:"s"» «txt:\"» «txt:\a»}) ) «com:; c»"###,
    ),
    (
        "lisp",
        r###"(«kw:defun» «fn:foo» () «txt:"doc"» («fn:format» «num:t» «txt:"~a"» 'x #«txt:\a»)) «com:; c»"###,
    ),
    (
        "scheme",
        r###"(«kw:define» («fn:f» x) («kw:cond» [(«fn:=» x «num:1») «num:#t»] [«kw:else» («fn:display» «txt:"a"»)]))"###,
    ),
    (
        "sh",
        r###"«com:#!/bin/bash»
«key:FOO»=bar; «kw:export» «key:X»=«txt:"a »$(«fn:dirname» «txt:"$0"»)«txt: ${Y}"» && «kw:sudo» «fn:apt-get» install «key:-y» «key:--no-install-recommends» ./x.deb | «fn:grep» «key:-v» «txt:'it'» «com:# c»
«kw:for» f «kw:in» *.txt; «kw:do» «fn:echo» «txt:"»«key:$f»«txt:"» > out; «kw:done»
«fn:cat» «txt:<<'EOF'» > x
«txt:text $x»
«txt:EOF»
«fn:docker» run \
  nginx:latest
«kw:if» [ «key:-f» x ]; «kw:then» «fn:echo» it\'s; «kw:fi»
«com:$ »«fn:cargo» test «key:--lib»"###,
    ),
    (
        "console",
        r###"«com:$ »«fn:ls» «key:-la»
total 0 don't
«com:me@host:~/x$ »«fn:git» status"###,
    ),
    (
        "fish",
        r###"«kw:set» «key:-x» FOO («fn:pwd»); «kw:function» «fn:hi»; «fn:echo» «key:$argv»; «kw:end»"###,
    ),
    (
        "powershell",
        r###"«kw:function» «fn:Get-Foo» { «kw:param»([string]«key:$Name») «fn:Get-ChildItem» «key:-Path» «txt:"C:\»«key:$Name»«txt:"» | «fn:Where-Object» { «key:$_».«ty:Length» «key:-gt» «num:1» } } «com:# c»"###,
    ),
    (
        "batch",
        r###"@«kw:echo» off
«com::: c»
«kw:if» «kw:exist» «txt:"x"» «kw:goto» end
«fn::end»"###,
    ),
    (
        "dockerfile",
        r###"«kw:FROM» rust:1.75 «kw:AS» build
«kw:RUN» «fn:apt-get» update && «fn:apt-get» install «key:-y» curl «com:# x»
«kw:ENV» «key:A»=b
«kw:COPY» «key:--from»=build /a /b
«kw:CMD» [«txt:"x"», «txt:"y"»]"###,
    ),
    (
        "make",
        r###"«key:CC» ?= gcc «com:# c»
«fn:all»: main.o «key:$(OBJ)»
	@$(«fn:CC») «key:-o» «key:$@» $^
«fn:.PHONY»: clean
«kw:ifeq» («key:$(X)»,1)"###,
    ),
    (
        "cmake",
        r###"«fn:set»(«ty:X» «txt:"${Y}/z"») «com:# c»
«kw:if»(«kw:NOT» «num:WIN32») «fn:target_link_libraries»(a «key:${B»}) «kw:endif»()"###,
    ),
    (
        "nginx",
        r###"«kw:server» { «fn:listen» «num:80»; «fn:server_name» a.b; «kw:location» ~ \.php$ { «fn:proxy_pass» http://x:80; } } «com:# c»"###,
    ),
];

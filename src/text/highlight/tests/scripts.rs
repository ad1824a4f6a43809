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
        "elixir",
        r###"«kw:defmodule» «ty:A».«ty:B» «kw:do» «key:@doc» «txt:"x"»; «kw:def» «fn:f?»(x), «kw:do»: {«num::ok», «txt:"a »#{x}«txt:"», «txt:~r/a"/», «key:key»: «num:1»} «com:# c»"###,
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
        "powershell",
        r###"«kw:function» «fn:Get-Foo» { «kw:param»([string]«key:$Name») «fn:Get-ChildItem» «key:-Path» «txt:"C:\»«key:$Name»«txt:"» | «fn:Where-Object» { «key:$_».«ty:Length» «key:-gt» «num:1» } } «com:# c»"###,
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
];

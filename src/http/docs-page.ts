/** The interface as one page of HTML without anything from elsewhere, made from the route table. */
import { createHash } from 'node:crypto'
import type { Json } from '../base/json.ts'
import type { Content, Page, Route } from './route.ts'
import { VERSION } from './version.ts'

export function docsPage(routes: readonly Route[]): Page {
  const sections = [...Map.groupBy(routes, (route) => route.tag)].map(([tag, rows]) => section(tag, rows))
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Smalt ${escapeHtml(VERSION)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Smalt ${escapeHtml(VERSION)}</h1>
<p>Every path also exists below <code>/rest</code>. The same as an OpenAPI document:
<a href="/openapi.json">/openapi.json</a>.</p>
${sections.join('\n')}
</main>
</body>
</html>
`
  return { html, contentSecurityPolicy: POLICY }
}

const STYLE = `
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 }
main { max-width: 60rem; margin: 0 auto; padding: 1rem }
details { border: 1px solid #8886; border-radius: 4px; margin: .5rem 0; padding: .5rem .75rem }
summary { cursor: pointer }
code, pre { font: 14px/1.4 ui-monospace, monospace }
pre { overflow: auto; padding: .5rem; background: #8882 }
table { border-collapse: collapse }
td { padding: .1rem 1rem .1rem 0; vertical-align: top }
.method { display: inline-block; min-width: 4rem; font-weight: bold }
.deprecated { text-decoration: line-through }
`

/** The hash admits this style sheet and no other. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

function section(tag: string, routes: readonly Route[]): string {
  return `<h2>${escapeHtml(tag)}</h2>\n${routes.map(entry).join('\n')}`
}

function entry(route: Route): string {
  const path = `<code${route.deprecated ? ' class="deprecated"' : ''}>${escapeHtml(route.path)}</code>`
  return `<details id="${escapeHtml(route.operationId)}">
<summary><code class="method">${route.method}</code> ${path} ${escapeHtml(route.summary)}</summary>
${route.description === undefined ? '' : `<p>${escapeHtml(route.description)}</p>`}
${parameters(route)}${example('Request', route.body)}${example('Answer', route.reply)}${errors(route)}
</details>`
}

function parameters({ query = [] }: Route): string {
  if (query.length === 0) return ''
  const rows = query.map(({ name, description, example = '' }) => [name, description, example])
  const cells = rows.map(([name = '', ...rest]) => {
    return `<tr><td><code>${escapeHtml(name)}</code></td>${rest.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`
  })
  return `<h4>Query parameters</h4>\n<table>${cells.join('')}</table>\n`
}

function example(title: string, content: Content | undefined): string {
  if (content?.example === undefined) return ''
  return `<h4>${title}</h4>\n<pre>${escapeHtml(printed(content.example))}</pre>\n`
}

function errors({ errors = [] }: Route): string {
  if (errors.length === 0) return ''
  const codes = errors.map((code) => `<code>${escapeHtml(code)}</code>`)
  return `<h4>Errors</h4>\n<p>${codes.join(', ')}</p>\n`
}

function printed(value: Json): string {
  return JSON.stringify(value, undefined, 2)
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

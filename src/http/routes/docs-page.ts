/** The documentation page: one HTML file without external resources, generated from the route table. */
import { createHash } from 'node:crypto'
import type { Json } from '../../base/json/json.ts'
import { TAGS } from './openapi.ts'
import type { Content, Page, Route } from './route.ts'
import { VERSION } from '../version.ts'

export function docsPage(routes: readonly Route[]): Page {
  const sections = TAGS.map(({ name, description }): Section => {
    return { name, description, routes: routes.filter(({ tag }) => tag === name) }
  })
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
${INTRODUCTION}
${hasPage(routes) ? PAGE_LINKS : ''}
<nav>
<h2>Contents</h2>
<ul>
${sections.map(contents).join('\n')}
</ul>
</nav>
${sections.map((each) => section(each, hasPage(routes))).join('\n')}
</main>
</body>
</html>
`
  return { html, contentSecurityPolicy: POLICY }
}

interface Section {
  readonly name: string
  readonly description: string
  readonly routes: readonly Route[]
}

const INTRODUCTION = `<p>Smalt stores JSON documents by entity, with versioned schemas and access by role. Requests and answers are JSON.
Every path also exists below <code>/rest</code>. A path without <code>{version}</code> means the default version of the entity.
The same as an OpenAPI document: <a href="/openapi.json">/openapi.json</a>.</p>
<p>Who asks is said by <code>Authorization: Bearer</code> and a token, or as the service is configured. In open mode, in which
only this machine can reach the service, three headers say it, and each may be absent:</p>
<table>
<tr><td><code>Smalt-Roles: editor, hr</code></td><td>the roles of the caller, by comma; none when absent</td></tr>
<tr><td><code>Smalt-Principal: ann</code></td><td>the name of the caller, kept in histories</td></tr>
<tr><td><code>Smalt-Claims: {"regions":["north"]}</code></td><td>claims about the caller, for row rules</td></tr>
</table>`

const PAGE_LINKS = `<p><a href="/ui#/api">Try operations in the page</a>, or read <a href="/docs/guide">the guide</a>.</p>`

function hasPage(routes: readonly Route[]): boolean {
  return routes.some(({ path }) => path === '/ui')
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

/** The hash allows this style sheet only. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Lists an operation once, although it has one route with a version and one without; links to the first of them. */
function contents({ name, routes }: Section): string {
  const first = Map.groupBy(routes, ({ summary }) => summary)
    .values()
    .map(([route]) => route!)
  const links = first.map(({ operationId, summary }) => {
    return `<a href="#${escapeHtml(operationId)}">${withCode(summary)}</a>`
  })
  return `<li><a href="#section-${escapeHtml(name)}">${escapeHtml(name)}</a>: ${[...links].join(', ')}</li>`
}

function section({ name, description, routes }: Section, isTryable: boolean): string {
  return `<h2 id="section-${escapeHtml(name)}">${escapeHtml(name)}</h2>
<p>${withCode(description)}</p>
${routes.map((route) => entry(route, isTryable)).join('\n')}`
}

function entry(route: Route, isTryable: boolean): string {
  const path = `<code${route.deprecated ? ' class="deprecated"' : ''}>${escapeHtml(route.path)}</code>`
  return `<details id="${escapeHtml(route.operationId)}">
<summary><code class="method">${route.method}</code> ${path} ${withCode(route.summary)}</summary>
${route.description === undefined ? '' : `<p>${withCode(route.description)}</p>`}
${parameters(route)}${example('Request', route.body)}${example('Answer', route.reply)}${errors(route)}${isTryable ? tryLink(route) : ''}
</details>`
}

function tryLink({ operationId }: Route): string {
  return `<p><a href="/ui#/api/${escapeHtml(operationId)}">Try it</a></p>\n`
}

function parameters({ query = [] }: Route): string {
  if (query.length === 0) return ''
  const rows = query.map(({ name, description, example }) => {
    const shown = example === undefined ? '' : code(example)
    return `<tr><td>${code(name)}</td><td>${withCode(description)}</td><td>${shown}</td></tr>`
  })
  return `<h4>Query parameters</h4>\n<table>${rows.join('')}</table>\n`
}

function example(title: string, content: Content | undefined): string {
  if (content?.example === undefined) return ''
  return `<h4>${title}</h4>\n<pre>${escapeHtml(printed(content.example))}</pre>\n`
}

function errors({ errors = [] }: Route): string {
  if (errors.length === 0) return ''
  return `<h4>Errors</h4>\n<p>${errors.map(code).join(', ')}</p>\n`
}

function printed(value: Json): string {
  return JSON.stringify(value, undefined, 2)
}

/** Renders backticks as code. */
function withCode(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}

function code(text: string): string {
  return `<code>${escapeHtml(text)}</code>`
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

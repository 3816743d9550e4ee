/** The house rules of ARCHITECTURE.md, held by the tests: who may import whom, and one table of error codes. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { CODES } from '../src/base/errors.ts'

const root = dirname(import.meta.dirname)

/** Folder → folders and packages it may import besides itself and Node's own modules. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: ['re2js'],
  schema: ['base'],
  lang: ['base', 'schema'],
  access: ['base', 'schema', 'lang'],
  events: ['base', 'schema', 'lang', 'access'],
  plan: ['base', 'schema', 'lang', 'access'],
  store: ['base', 'schema', 'lang', 'plan', 'pg'],
  sinks: ['base', 'schema', 'lang', 'access', 'events', 'store', '@nats-io'],
  metadata: ['base', 'schema', 'lang', 'store'],
  service: ['base', 'schema', 'lang', 'access', 'events', 'plan', 'store', 'sinks', 'metadata'],
  auth: ['base', 'access', 'jose'],
  http: ['base', 'access', 'auth', 'service', 'find-my-way', 'pino', 'prom-client'],
  cli: ['base', 'access', 'auth', 'service', 'http'],
}

interface Import {
  readonly target: string
  readonly isType: boolean
}

const files = globSync('src/*/**/*.ts', { cwd: root }).sort()

function importsOf(file: string): readonly Import[] {
  const source = readFileSync(join(root, file), 'utf8')
  const imports = source.matchAll(/^(?:import|export)\s+(type\s)?[^'"]*?from '([^']+)'|^import '([^']+)'/gm)
  return [...imports].map(([, type, from, bare]) => ({
    target: from ?? bare ?? '',
    isType: type !== undefined,
  }))
}

function folderOf(file: string): string {
  return file.split('/')[1]!
}

function resolved(file: string, target: string): string {
  return relative(root, join(root, dirname(file), target))
}

test('architecture: every folder of src stands in the table', () => {
  assert.deepEqual([...new Set(files.map(folderOf))].sort(), Object.keys(MAY_IMPORT).sort())
})

const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')

test('architecture: ARCHITECTURE.md tells of every folder what it may import', () => {
  const rows = page.matchAll(/^\| `([a-z]+)` \|.*\| ([^|]+) \|$/gm)
  const documented = [...rows].map(([, folder, names]) => [folder, names!.split(', ')])
  assert.deepEqual(Object.fromEntries(documented), MAY_IMPORT)
})

for (const folder of ['store/sqlite', 'store/postgres']) {
  test(`architecture: ARCHITECTURE.md names the files of ${folder}, and no other`, () => {
    const part = page.slice(page.search(new RegExp(`^.*\`${folder}\`.*:\n\n\\| File`, 'm')))
    const table = part.slice(part.indexOf('|'), part.indexOf('\n\n', part.indexOf('|')))
    const named = [...table.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, cell]) =>
      cell!.split(', ').map((each) => each.replaceAll('`', '')),
    )
    const present = globSync('*.ts', { cwd: join(root, 'src', folder) })
    assert.deepEqual([...named, 'store.ts'].sort(), present.sort())
  })
}

for (const file of files) {
  test(`architecture: ${file} imports only what ${folderOf(file)} may import`, () => {
    const folder = folderOf(file)
    const allowed = [folder, ...MAY_IMPORT[folder]!]
    for (const { target } of importsOf(file)) {
      if (target.startsWith('node:')) continue
      const used = target.startsWith('.') ? folderOf(resolved(file, target)) : target.split('/')[0]!
      assert.ok(allowed.includes(used), `${file} imports ${target}`)
      assert.ok(!target.startsWith('.') || target.endsWith('.ts'), `${target} must say .ts`)
    }
  })
}

test('architecture: no module imports itself through others', () => {
  const graph = new Map(
    files.map((file) => [
      file,
      importsOf(file)
        .filter(({ target, isType }) => target.startsWith('.') && !isType)
        .map(({ target }) => resolved(file, target)),
    ]),
  )
  const done = new Set<string>()
  const visit = (file: string, trail: readonly string[]): void => {
    assert.ok(!trail.includes(file), `cycle: ${[...trail, file].join(' → ')}`)
    if (done.has(file)) return
    for (const next of graph.get(file) ?? []) visit(next, [...trail, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
})

test('architecture: every error code is documented, and every documented code is in the table', () => {
  const reference = readFileSync(join(root, 'docs/reference/errors.md'), 'utf8')
  const documented = [...reference.matchAll(/^\| `([^`]+)` \| (\d{3}) \|/gm)].map(([, code, status]) => [
    code,
    Number(status),
  ])
  assert.deepEqual(documented.sort(), Object.entries(CODES).sort())
})

test('architecture: every error code of the table is used', () => {
  const sources = files
    .filter((file) => file !== 'src/base/errors.ts')
    .map((file) => readFileSync(join(root, file), 'utf8'))
  const unused = Object.keys(CODES).filter((code) => !sources.some((source) => source.includes(`'${code}'`)))
  assert.deepEqual(unused, [])
})

/** Row 32: what is installed to run the service is little, pinned, and runs nothing while it is installed. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

interface Package {
  readonly dev?: boolean
  readonly hasInstallScript?: boolean
  readonly integrity?: string
  readonly resolved?: string
  /** Whether it is a workspace of the project. */
  readonly link?: boolean
}

function packages(): readonly [name: string, each: Package][] {
  const lock = JSON.parse(readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8')) as {
    packages: Record<string, Package>
  }
  // the project itself and its workspaces are no packages of others
  return Object.entries(lock.packages).filter(
    ([name, { link }]) => name !== '' && link !== true && name.includes('node_modules/'),
  )
}

/** Where a package comes from when the lock file does not say. */
const REGISTRY = 'https://registry.npmjs.org/'

/** Whoever adds one has to raise it, and to say why; it should rather sink. The client of NATS brought six, and
 * dumps of MongoDB are read by the library of its makers. CSV has a parser of its own, and a workspace counts as two. */
const MOST = 48

test('dependencies: few packages are needed to run, and none has a script that installing runs', () => {
  const needed = packages().filter(([, { dev }]) => dev !== true)
  assert.ok(needed.length <= MOST, `${needed.length} packages`)
  assert.deepEqual(
    needed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([name]) => name),
    [],
  )
})

test('dependencies: each is pinned to its content, and comes from the registry', () => {
  for (const [name, { integrity, resolved }] of packages()) {
    assert.match(integrity ?? '', /^sha512-/, name)
    assert.match(resolved ?? REGISTRY, /^https:\/\/registry\.npmjs\.org\//, name)
  }
})

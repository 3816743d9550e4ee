/** Clients generated from the OpenAPI document: right programs compile and run, wrong ones do not compile. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openapiDocument } from '../../../src/http/routes/openapi.ts'
import { ROUTES } from '../../../src/http/routes/routes.ts'
import { startTestServer } from '../../support/server.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const GENERATORS = join(ROOT, 'test/generators')
const COMPILER_OPTIONS = {
  strict: true,
  exactOptionalPropertyTypes: true,
  module: 'nodenext',
  target: 'esnext',
  types: ['node'],
  noEmit: true,
  allowImportingTsExtensions: true,
}

let directory: string

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'smalt-client-'))
  const document = join(directory, 'openapi.json')
  await writeFile(document, JSON.stringify(openapiDocument(ROUTES)))
  await writeFile(join(directory, 'package.json'), '{"type":"module"}')
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER_OPTIONS }))
  for (const file of await readdir(GENERATORS)) {
    if (file.endsWith('.ts')) await copyFile(join(GENERATORS, file), join(directory, file))
  }
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  const generator = join(GENERATORS, 'node_modules/openapi-typescript/bin/cli.js')
  await run(process.execPath, [generator, document, '-o', join(directory, 'api.d.ts')])
})

after(() => rm(directory, { recursive: true, force: true }))

test('openapi: a program with every operation compiles, and none of the wrong requests does', async () => {
  const compiler = join(ROOT, 'node_modules/.bin/tsc')
  const { stdout } = await run(compiler, ['-p', directory]).catch(
    (error: { readonly stdout: string }) => error,
  )
  assert.equal(stdout, '')
})

onEveryStore(() => {
  test('openapi: the program sends every operation, and each answers as it should', async () => {
    await using server = await startTestServer()
    const address = `http://127.0.0.1:${server.port}`
    const { stdout } = await run(process.execPath, [join(directory, 'calls.ts'), address])
    const sent = new Set(JSON.parse(stdout) as readonly string[])
    const left = ROUTES.filter(({ method, path }) => !sent.has(`${method} ${path}`))
    assert.deepEqual(
      left.map(({ operationId }) => operationId),
      [],
    )
  })
})

/** Sinks of the kind nats in the configuration: with secrets from elsewhere, which nothing shows. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { compileShape } from '../../../src/base/json/shape.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { ConfigError } from '../../../src/cli/config/config-error.ts'
import { type Config, readConfig } from '../../../src/cli/config/config.ts'
import { settingsSchema } from '../../../src/cli/config/setting-shapes.ts'
import type { Environment } from '../../../src/cli/config/settings.ts'
import { ROOT, blocksOf } from '../docs/page.ts'
import { PROGRAM } from '../../support/program.ts'

const folder = mkdtempSync(join(tmpdir(), 'smalt-nats-config-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const SINK = {
  name: 'kitchen',
  kind: 'nats',
  url: 'tls://nats.example.com:4222',
  subject: 'smalt.events',
  roles: ['cook'],
}
const CREDS = [
  '-----BEGIN NATS USER JWT-----\ncr3ds\n------END NATS USER JWT------',
  '-----BEGIN USER NKEY SEED-----\ncr3ds\n------END USER NKEY SEED------',
].join('\n')

function written(...sinks: readonly Json[]): string {
  const file = join(folder, 'smalt.json')
  writeFileSync(file, JSON.stringify({ events: { sinks } }))
  return file
}

function read(sink: JsonObject, environment: Environment = {}): Config {
  return readConfig({ config: written(sink) }, environment, folder)
}

test('config file: a NATS sink stands in it, with its secrets from elsewhere', () => {
  const credsFile = join(folder, 'smalt.creds')
  writeFileSync(credsFile, `${CREDS}\n`)
  const cases: readonly [given: JsonObject, known: JsonObject][] = [
    [
      { user: 'smalt', password: { env: 'NATS_PASSWORD' } },
      { user: 'smalt', password: 'pa55word' },
    ],
    [{ creds: { file: credsFile } }, { creds: CREDS }],
    [{ token: 't0ken' }, { token: 't0ken' }],
  ]
  for (const [given, credentials] of cases) {
    const { events } = read({ ...SINK, credentials: given }, { NATS_PASSWORD: 'pa55word' })
    assert.deepEqual(events.sinks, [{ definition: { ...SINK, filter: {}, credentials } }])
  }
})

const REFUSED: readonly [change: JsonObject, message: RegExp][] = [
  [{ kind: 'kafka' }, /: \/events\/sinks\/0\/kind must be one of webhook, nats$/],
  [{ subject: 'a.*' }, /: \/events\/sinks\/0: "subject" says .* \(at \/subject\)$/],
  [{ url: 'nats://10.0.0.1' }, /\/0: "url" leads to a private.*allowPrivateAddresses/],
  [{ credentials: { user: 'smalt' } }, /\/0: "credentials" must hold user and password/],
  [{ credentials: { pass: 'x' } }, /no setting \/events\/sinks\/0\/credentials\/pass; there are user, /],
  [{ credentials: { token: { env: 'NOT_SET' } } }, /\/credentials\/token: the variable NOT_SET is not set$/],
  [{ credentials: { creds: { file: '/nowhere/x' } } }, /\/credentials\/creds cannot be read: /],
]
for (const [change, message] of REFUSED) {
  test(`config file: a NATS sink with ${JSON.stringify(change)} is refused, with the place`, () => {
    assert.throws(
      () => read({ ...SINK, ...change }),
      (error) => error instanceof ConfigError && message.test(error.message),
      message.source,
    )
  })
}

test('config schema: knows NATS sinks, and those that the documentation shows', () => {
  const isSound = compileShape(settingsSchema())
  const shown = blocksOf('docs/how-to/publish-to-nats.md').find(({ text }) => text.includes('"sinks"'))
  assert.equal(isSound(JSON.parse(shown!.text) as Json), true)
  const file = (credentials: Json): Json => ({ events: { sinks: [{ ...SINK, credentials }] } })
  assert.equal(isSound(file({ user: 'smalt', password: { env: 'X' } })), true)
  assert.equal(isSound(file({ user: 'smalt', pass: 'x' })), false)
})

test('start: what publishes to NATS is loaded only where something is published', () => {
  const isLoaded = (...modules: readonly string[]): string => {
    const imports = modules.map((each) => `await import(${JSON.stringify(each)})`).join('\n')
    const found = `Object.keys(require.cache).some((each) => each.includes('@nats-io'))`
    const script = `(async () => { ${imports}\nconsole.log(${found}) })()`
    const args = ['--input-type=commonjs', '-e', script]
    return spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' }).stdout.trim()
  }
  assert.equal(isLoaded(join(ROOT, 'src/cli/serve/serve.ts'), join(ROOT, 'src/sinks/nats/nats.ts')), 'false')
  assert.equal(isLoaded('@nats-io/jetstream'), 'true')
})

test('smalt config: shows a NATS sink without its secrets', () => {
  const sinks = [
    { user: 'smalt', password: 'pa55word' },
    { token: 't0ken-of-smalt' },
    { nkey: `SU${'A'.repeat(56)}` },
    { creds: CREDS },
  ].map((credentials, i) => ({ ...SINK, name: `s${i}`, credentials }))
  const args = [PROGRAM, 'config', '--config', written(...sinks)]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  const { events } = JSON.parse(stdout) as { readonly events: { readonly sinks: readonly JsonObject[] } }
  assert.deepEqual(
    events.sinks.map(({ credentials }) => credentials),
    [{ user: 'smalt', password: '***' }, { token: '***' }, { nkey: '***' }, { creds: '***' }],
  )
  for (const hidden of ['pa55word', 't0ken', 'SUAAA', 'cr3ds']) assert.ok(!stdout.includes(hidden), stdout)
})

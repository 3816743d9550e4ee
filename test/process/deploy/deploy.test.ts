/** The files for containers and systemd name paths, settings and commands that exist; the image is built where a builder is. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { VARIABLES } from '../../../src/cli/config/settings.ts'
import { EXIT } from '../../../src/cli/exit.ts'
import { runCommand } from '../../support/command.ts'
import { metadataDocument } from '../../support/service.ts'
import { startProgram } from '../../support/smalt-process.ts'

const ROOT = join(import.meta.dirname, '../../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const COMPOSE = ['deploy/compose.sqlite.yaml', 'deploy/compose.postgres.yaml']
const FILES = ['Containerfile', ...COMPOSE, 'deploy/smalt.service']

test('deploy: every variable that begins with SMALT_ is a setting', () => {
  for (const path of FILES) {
    const names = new Set(read(path).match(/\bSMALT_[A-Z_]+\b/g) ?? [])
    assert.ok(names.size > 0 || path === 'deploy/compose.sqlite.yaml', path)
    for (const name of names) assert.ok(VARIABLES.includes(name), `${path} names ${name}`)
  }
})

test('Containerfile: copied paths and scripts exist, and nothing else of the checkout is sent', () => {
  const text = read('Containerfile')
  const copied = copiedPaths()
  assert.ok(copied.length >= 5)
  const allowed = read('.containerignore').split('\n')
  for (const path of copied) {
    assert.ok(existsSync(join(ROOT, path)), path)
    assert.ok(allowed.includes(`!${path}`), `.containerignore leaves ${path} out`)
  }
  const { scripts, bin, engines } = JSON.parse(read('package.json'))
  for (const [, script] of text.matchAll(/npm run (\S+)/g)) assert.ok(scripts[script!], script!)
  assert.match(text, new RegExp(`/srv/smalt/${bin.smalt}\\b`))
  const version = Number(/FROM node:(\d+)/.exec(text)![1])
  assert.ok(version >= Number(/\d+/.exec(engines.node)![0]))
  assert.match(text, /^USER node$/m)
  assert.match(text, /^HEALTHCHECK .*\n {2}CMD \["smalt", "ready"\]$/m)
})

/** The paths of the checkout that the build stage has. */
function copiedPaths(): readonly string[] {
  const copies = read('Containerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)
  return [...copies].flatMap(([, paths]) => paths!.split(' '))
}

test('Containerfile: what it copies is enough to build the service and the page', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'smalt-image-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  for (const path of copiedPaths()) cpSync(join(ROOT, path), join(directory, path), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  execFileSync('npm', ['run', 'build'], { cwd: directory, stdio: 'pipe' })
  const { bin } = JSON.parse(read('package.json'))
  for (const path of [bin.smalt, 'dist/ui/index.html', 'dist/ui/guide/readme.html'])
    assert.ok(existsSync(join(directory, path)), path)
  const printed = execFileSync(process.execPath, [join(directory, bin.smalt), 'version'], {
    encoding: 'utf8',
  })
  assert.match(printed, /^\d+\.\d+\.\d+\n$/)
  await tryBuilt(join(directory, bin.smalt), directory)
})

/** The bundled program finds the page and the files of its threads, which it loads by their paths. */
async function tryBuilt(main: string, directory: string): Promise<void> {
  const config = join(directory, 'smalt.json')
  writeFileSync(config, JSON.stringify({ backup: { directory: join(directory, 'backups') } }))
  await using smalt = await startProgram(main, '--data', join(directory, 'data'), '--config', config)
  assert.equal((await smalt.ask('GET', '/ui/')).status, 200)
  const metadata = metadataDocument('thing', { name: { type: 'string' } })
  assert.equal((await smalt.ask('PUT', '/metadata/thing/1.0.0', metadata)).status, 200)
  // a body of this size is parsed by a worker thread
  const things = Array.from({ length: 1_000 }, (_, i) => ({ name: `${i}`.padStart(200, 'x') }))
  const inserted = await smalt.ask('PUT', '/data/insert/thing/1.0.0', { data: things })
  assert.equal(JSON.parse(inserted.text).modifiedCount, 1_000)
  // a scan is read by a thread of the store
  const query = { field: 'name', regex: '.*9$' }
  const found = await smalt.ask('POST', '/data/find/thing/1.0.0', { query, projection: { field: '*' } })
  assert.equal(JSON.parse(found.text).matchCount, 100)
  const backup = await smalt.ask('POST', '/admin/backup')
  assert.equal(backup.status, 200, backup.text)
}

test('npm ci --omit=dev: the script that npm runs then succeeds, and says that the page is not built', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'smalt-prepare-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  for (const path of ['package.json', 'ui'])
    cpSync(join(ROOT, path), join(directory, path), { recursive: true })
  const printed = execFileSync('npm', ['run', 'prepare'], { cwd: directory, encoding: 'utf8', stdio: 'pipe' })
  assert.match(printed, /the page is not built: it needs the development dependencies/)
  assert.ok(!existsSync(join(directory, 'dist')))
})

test('compose files: they build the Containerfile, run read-only, and store data in a volume', () => {
  for (const path of COMPOSE) {
    const text = read(path)
    const [, context] = /context: (\S+)/.exec(text)!
    const [, file] = /dockerfile: (\S+)/.exec(text)!
    assert.ok(existsSync(join(ROOT, 'deploy', context!, file!)), path)
    assert.match(text, /read_only: true/)
    assert.match(text, /:\/data\n/)
    const [, command] = /#\s+podman compose -f (\S+)/.exec(text)!
    assert.equal(command, path)
  }
})

test('smalt.service: it runs a command that exists, and does not restart after errors that stay', async () => {
  const text = read('deploy/smalt.service')
  const [, command] = /^ExecStart=\/usr\/bin\/env smalt (.+)$/m.exec(text)!
  assert.equal((await runCommand([...command!.split(' '), '--help'])).code, 0)
  const directory = `/var/lib/${/^StateDirectory=(\S+)/m.exec(text)![1]}`
  const data = /^Environment=SMALT_DATA=(\S+)$/m.exec(text)?.[1] ?? ''
  // as /etc/smalt/smalt.env may say
  const stores = { [`sqlite:${directory}`]: {}, 'postgres://host/db': { SMALT_STORE: 'postgres://host/db' } }
  for (const [location, more] of Object.entries(stores)) {
    const args = command!.replace(/^serve/, 'config').split(' ')
    const { out, err } = await runCommand(args, { environment: { SMALT_DATA: data, ...more } })
    assert.equal(err, '')
    assert.deepEqual(JSON.parse(out).datasources, [{ name: 'default', location }])
  }
  const [, codes] = /^RestartPreventExitStatus=(.+)$/m.exec(text)!
  assert.deepEqual(codes!.split(' ').map(Number), [EXIT.usage, EXIT.config])
})

test('docs/how-to/deploy.md: the files that it names exist', () => {
  const named = read('docs/how-to/deploy.md').match(/\bdeploy\/[\w.]+|\bContainerfile\b/g) ?? []
  assert.ok(new Set(named).size >= 4)
  for (const path of new Set(named)) assert.ok(existsSync(join(ROOT, path)), path)
})

const BUILDER = ['podman', 'buildah'].find((name) => {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})

test(
  'Containerfile: the image is built, and its command prints the version',
  { skip: BUILDER === undefined && 'needs podman or buildah: apt-get install podman', timeout: 600_000 },
  () => {
    const build = BUILDER === 'buildah' ? ['build'] : ['build', '--quiet']
    execFileSync(BUILDER!, [...build, '-t', 'smalt-test', '-f', 'Containerfile', '.'], { cwd: ROOT })
    if (BUILDER !== 'podman') return
    const run = ['run', '--rm', '--read-only', '--tmpfs', '/tmp', 'smalt-test', 'version']
    const { version } = JSON.parse(read('package.json'))
    assert.equal(execFileSync('podman', run, { encoding: 'utf8' }).trim(), version)
  },
)

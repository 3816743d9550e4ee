/** The records of commands: what parsing and the generated help rely on. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { CONFIG_OPTIONS } from '../../../src/cli/config/flags.ts'
import { commandHelp, overview } from '../../../src/cli/help.ts'
import type { Option } from '../../../src/cli/option.ts'

test('commands: no two have the same name', () => {
  const names = COMMANDS.map(({ name }) => name)
  assert.deepEqual(names, [...new Set(names)])
})

test('commands: an option is of the same kind in every command, because it is parsed before the command is known', () => {
  const kinds = new Map<string, string>()
  for (const options of [CONFIG_OPTIONS, ...COMMANDS.map((command) => command.options)]) {
    for (const [name, { type, multiple = false }] of Object.entries<Option>(options)) {
      const kind = `${type} ${multiple}`
      assert.equal(kinds.get(name) ?? kind, kind, name)
      kinds.set(name, kind)
    }
  }
})

test('commands: an option that takes a value says what, and no other does', () => {
  for (const { name, options } of COMMANDS) {
    for (const [option, { type, value }] of Object.entries(options))
      assert.equal(value !== undefined, type === 'string', `${name} --${option}`)
  }
})

test('help: lists every command; the help of each lists its actions, options and examples', () => {
  const all = overview(COMMANDS)
  for (const command of COMMANDS) {
    assert.ok(all.includes(`\n  ${command.name} `), command.name)
    const help = commandHelp(command)
    for (const option of Object.keys(command.options)) assert.ok(help.includes(`\n  --${option}`), option)
    for (const { words } of command.actions ?? [])
      assert.ok(help.includes(`  smalt ${command.name} ${words}`))
    for (const { command: example } of command.examples) assert.ok(help.includes(`  ${example}`), example)
  }
})

test('help: of the configuration, a command lists the options that it uses', () => {
  for (const command of COMMANDS) {
    const [, listed = ''] = commandHelp(command).split('Options of the configuration\n')
    const names = [...listed.matchAll(/^ {2}--([\w-]+)/gm)].map(([, name]) => name!)
    const { effective = Object.keys(CONFIG_OPTIONS), configuration, options } = command
    const expected = effective.filter((name) => !Object.hasOwn(options, name))
    assert.deepEqual(names.sort(), configuration === 'used' ? expected.sort() : [], command.name)
  }
})

test('help: no line is longer than 100 columns', () => {
  const pages = [overview(COMMANDS), ...COMMANDS.map(commandHelp)]
  const long = pages.flatMap((page) => page.split('\n')).filter((line) => line.length > 100)
  assert.deepEqual(long, [])
})

/** Profiles: addresses and credentials of services, by name, in the configuration directory of the user. */
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type JsonObject, isObject, member } from '../../base/json/json.ts'
import { parseJson } from '../../base/json/parse-json.ts'
import { didYouMean } from '../../base/suggest.ts'
import type { Environment } from '../config/settings.ts'
import { EXIT, Exit } from '../exit.ts'

interface Profile {
  readonly url?: string
  readonly token?: string
}

const KEYS = ['url', 'token']
const USUAL = 'default'

/** `$XDG_CONFIG_HOME/smalt/profiles.json`, where the variable is `~/.config` by default. */
function profilesFile(environment: Environment): string {
  const base = environment['XDG_CONFIG_HOME']
  return join(
    base === undefined || base === '' ? join(environment['HOME'] ?? homedir(), '.config') : base,
    'smalt',
    'profiles.json',
  )
}

/** The named profile, which must exist, or the one called `default`, if there is one. */
export function readProfile(name: string | undefined, environment: Environment): Profile {
  const file = profilesFile(environment)
  const profiles = profilesIn(file)
  if (profiles === undefined) {
    if (name === undefined) return {}
    throw problem(`there is no profile ${name}, because there is no file ${file}`)
  }
  const chosen = name ?? USUAL
  const profile = member(profiles, chosen)
  if (profile === undefined) {
    if (name === undefined) return {}
    throw problem(`there is no profile ${chosen} in ${file}${didYouMean(chosen, Object.keys(profiles))}`)
  }
  if (!isObject(profile)) throw problem(`${file}: the profile ${chosen} must be an object`)
  for (const [key, value] of Object.entries(profile)) {
    if (!KEYS.includes(key)) throw problem(`${file}: a profile knows ${KEYS.join(' and ')}, not "${key}"`)
    if (typeof value !== 'string' || value === '')
      throw problem(`${file}: "${key}" of ${chosen} must be a text`)
  }
  return profile
}

/** Undefined if the file does not exist. A token that others can read is no secret any more. */
function profilesIn(file: string): JsonObject | undefined {
  let text
  let mode
  try {
    text = readFileSync(file, 'utf8')
    mode = statSync(file).mode
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw problem(`the profiles cannot be read: ${message}`)
  }
  const profiles = parsed(file, text)
  const hasToken = Object.values(profiles).some((each) => member(each, 'token') !== undefined)
  if (hasToken && (mode & 0o077) !== 0)
    throw problem(`${file} contains tokens that other users of this machine can read; run chmod 600 ${file}`)
  return profiles
}

function parsed(file: string, text: string): JsonObject {
  try {
    const value = parseJson(text, 8)
    if (isObject(value)) return value
  } catch (error) {
    throw problem(`${file}: ${(error as Error).message}`)
  }
  throw problem(`${file} must be an object: {"default": {"url": "https://…", "token": "…"}}`)
}

function problem(message: string): Exit {
  return new Exit(EXIT.config, message)
}

/** Every view, light and dark, wide and on a phone: no barrier for anybody, no horizontal scroll, no complaint. */
import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { barriers } from './axe.ts'
import { company } from './company.ts'
import { site } from './visit.ts'

type Step = (page: Page) => Promise<void>

const VIEWS: readonly (readonly [name: string, address: string, ...steps: Step[]])[] = [
  ['data', '#/data', (page) => page.getByRole('link', { name: /employee 12/ }).waitFor()],
  ['table', '#/data/employee?as=hr', shows('Ann')],
  ['hidden', '#/data/employee', shows('Ann'), presses('salary'), says('deny')],
  [
    'document',
    '#/data/employee?as=hr&doc="1"',
    (page) => page.getByRole('textbox', { name: 'city' }).waitFor(),
  ],
  ['errors', '#/data/employee?as=hr&doc=new', presses('Insert'), says('is required')],
  ['json', '#/data/employee?as=hr&doc="1"', chooses('JSON'), says('"Ann"')],
  ['history', '#/data/employee?as=hr&doc="1"', chooses('History'), has('.history li')],
  ['explain', '#/data/employee', shows('Ann'), presses('Explain'), says('Returned')],
  ['view-as', '#/data/employee', shows('Ann'), presses(/View as/), says('Other roles')],
  [
    'bulk-edit',
    '#/data/employee?as=hr',
    shows('Ann'),
    presses('Edit'),
    (page) => page.getByRole('textbox', { name: 'Value' }).fill('Bo'),
    presses('Preview'),
    says('would change'),
  ],
  [
    'import',
    '#/data/team?as=hr',
    shows('Blue team'),
    presses('Import'),
    (page) =>
      page.getByLabel(/^File of CSV/).setInputFiles({
        name: 'teams.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from('_id,title,budget\nblue,Blue,1\nold,Old,much\n'),
      }),
    presses('Import'),
    says('0 stored, 2 rejected'),
  ],
  ['graph', '#/schemas', says('employee → team')],
  ['fields', '#/schemas/employee', says('array of object')],
  ['access', '#/schemas/employee?tab=access', says('anyone else')],
  ['versions', '#/schemas/employee?tab=versions', says('first version')],
  [
    'schema-form',
    '#/schemas/employee?tab=edit',
    opens('Constraints and access of salary'),
    (page) =>
      page
        .getByRole('group', { name: 'Access to the entity' })
        .getByRole('button', { name: 'Role that may find some documents' })
        .click(),
    has('.row-rules .row'),
  ],
  [
    'indexes',
    '#/schemas/employee?tab=edit',
    presses('Add an index'),
    async (page) => {
      await group(page, 'Index without fields').getByLabel('Kind').selectOption('text')
    },
    (page) => group(page, 'Index without fields').getByRole('combobox', { name: 'Field' }).fill('name'),
    presses('Check'),
    (page) => group(page, 'Index on name').getByRole('alert').waitFor(),
    (page) => group(page, 'Index on city').scrollIntoViewIfNeeded(),
  ],
  [
    'hooks',
    '#/schemas/employee?tab=edit',
    presses('Add a hook'),
    presses('Check'),
    (page) => group(page, 'Hook without a name').getByRole('alert').waitFor(),
    (page) => group(page, 'Hook moves').scrollIntoViewIfNeeded(),
  ],
  ['schema-json', '#/schemas/employee?tab=edit', chooses('JSON'), says('"entityInfo"')],
  [
    'impact',
    '#/schemas/employee?tab=new',
    opens('Constraints and access of city'),
    (page) =>
      page.getByRole('group', { name: 'city', exact: true }).getByLabel('at most characters').fill('4'),
    presses('Check'),
    says('Some violate the schema'),
  ],
  ['events', '#/events', says('following')],
  ['sinks', '#/events?tab=sinks', says('No sinks')],
  ['status', '#/status', says('Routes since the start')],
  [
    'slow',
    '#/status?slow=duration',
    says('Routes since the start'),
    (page) => page.getByRole('heading', { name: 'Slow requests' }).scrollIntoViewIfNeeded(),
    (page) => page.getByRole('region', { name: 'Slow requests' }).scrollIntoViewIfNeeded(),
  ],
  ['api', '#/api', has('.entities li')],
  ['operation', '#/api/find', has('.cm-line')],
  [
    'palette',
    '#/data',
    has('.entities li'),
    (page) => page.keyboard.press('Control+k'),
    says('employee schema'),
  ],
]

const SIZES = [
  { name: 'wide', width: 1440, height: 900 },
  { name: 'phone', width: 390, height: 800 },
] as const

/** How much wider the page is than its window, or a dialog than its frame. */
const WIDER = `Math.max(document.documentElement.scrollWidth - innerWidth,
  ...[...document.querySelectorAll('dialog[open]')].map((each) => each.scrollWidth - each.clientWidth))`

const TALLER = 'document.documentElement.scrollHeight - innerHeight'

const PICTURES = process.env['SMALT_TEST_PICTURES']
if (PICTURES !== undefined) mkdirSync(join(PICTURES, 'docs'), { recursive: true })
/** Pictures in `docs/how-to/pictures`. */
const DOCUMENTED = ['document', 'hidden', 'bulk-edit', 'import', 'impact']

void suite('every view', () => {
  // every request is slow, so that there are some to list
  const { visit } = site(company, { limits: { slowRequestMs: 0 } })
  for (const { name: size, width, height } of SIZES) {
    test(`every view, light and dark, ${size}: nothing is in anybody's way`, async () => {
      // without motion, colours change at once
      await using visited = await visit({ viewport: { width, height }, reducedMotion: 'reduce' })
      const { page, open } = visited
      const found: string[] = []
      for (const [name, address, ...steps] of VIEWS) {
        await page.goto('about:blank')
        await open(address)
        for (const step of steps) await step(page)
        for (const scheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme: scheme })
          for (const each of await flaws(page)) found.push(`${name}, ${scheme}: ${each}`)
          if (PICTURES !== undefined) await takePicture(PICTURES, page, { name, scheme, size })
        }
      }
      assert.deepEqual(found, [])
    })
  }
})

async function flaws(page: Page): Promise<readonly string[]> {
  const found: string[] = []
  const wider = await page.evaluate<number>(WIDER)
  if (wider > 0) found.push(`${wider} pixels wider than the window or its dialog`)
  // parts of the page scroll, the page itself does not
  const taller = await page.evaluate<number>(TALLER)
  if (taller > 0) found.push(`${taller} pixels taller than the window`)
  return [...found, ...(await barriers(page))]
}

interface Picture {
  readonly name: string
  readonly scheme: 'light' | 'dark'
  readonly size: string
}

async function takePicture(directory: string, page: Page, { name, scheme, size }: Picture): Promise<void> {
  const path = join(directory, `${name}-${scheme}-${size}.png`)
  await page.screenshot({ path })
  const isDocumented = DOCUMENTED.includes(name) && scheme === 'light' && size === 'wide'
  if (isDocumented) copyFileSync(path, join(directory, 'docs', `${name}.png`))
}

function shows(cell: string): Step {
  return (page) => page.getByRole('gridcell', { name: cell, exact: true }).waitFor()
}

function says(text: string): Step {
  return (page) => page.getByText(text).first().waitFor()
}

function has(selector: string): Step {
  return (page) => page.locator(selector).first().waitFor()
}

/** The last one: a panel stands after the table. */
function presses(name: string | RegExp): Step {
  return (page) => page.getByRole('button', { name }).last().click()
}

function group(page: Page, name: string): Locator {
  return page.getByRole('group', { name, exact: true })
}

function opens(summary: string): Step {
  return (page) => page.getByText(summary).click()
}

function chooses(name: string): Step {
  return (page) => page.getByRole('tab', { name }).click()
}

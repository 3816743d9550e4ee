/** Events: a live tail with filters, and the sinks to which events are pushed. */
import type { JSX } from 'preact'
import { change, usePlace } from '../../app/place.ts'
import { Tabs } from '../../parts/tabs.tsx'
import { LiveTail } from './live-tail.tsx'
import { Sinks } from './sinks.tsx'

const TABS = [
  { name: 'live', label: 'Live' },
  { name: 'sinks', label: 'Sinks' },
] as const

type TabName = (typeof TABS)[number]['name']

export function EventsView(): JSX.Element {
  const { query } = usePlace()
  const tab = TABS.find(({ name }) => name === query['tab'])?.name ?? 'live'
  return (
    <section class="page tall">
      <h1>Events</h1>
      <Tabs label="Events" tabs={TABS} current={tab} onChoose={(name: TabName) => change({ tab: name })}>
        {tab === 'live' ? <LiveTail /> : <Sinks />}
      </Tabs>
    </section>
  )
}

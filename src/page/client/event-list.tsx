import type { EventRow } from '../messages/page-message.ts'
import { formatClock, formatMoment, toVisible } from './format.ts'
import { Link } from './link.tsx'
import { podPath } from './navigation.ts'

interface EventListProps {
  /** The newest first. */
  readonly events: readonly EventRow[]
  readonly now: number
  readonly isLoaded: boolean
  /** Whether the object of each is shown. */
  readonly hasObject: boolean
}

const MOST_SHOWN = 50

export function EventList({ events, now, isLoaded, hasObject }: EventListProps) {
  if (events.length === 0) return <p class="empty">{isLoaded ? 'No events.' : 'Loading…'}</p>
  return (
    <ol class="events">
      {events.slice(0, MOST_SHOWN).map((event) => (
        <li key={event.uid} class={event.type === 'Warning' ? 'warning' : ''}>
          <time dateTime={event.at} title={formatMoment(event.at)}>
            {formatClock(event.at, now)}
          </time>
          <span class="reason">
            {event.type === 'Warning' && <span class="hidden">Warning: </span>}
            {toVisible(event.reason)}
            {event.count > 1 && <span class="soft"> ×{event.count}</span>}
          </span>
          {hasObject && <span class="about">{aboutOf(event)}</span>}
          <span class="message">
            {event.container !== '' && <span class="soft">{toVisible(event.container)}: </span>}
            {toVisible(event.message)}
          </span>
        </li>
      ))}
    </ol>
  )
}

function aboutOf(event: EventRow) {
  const name = toVisible(event.name)
  return event.kind === 'Pod' ? <Link to={podPath(event)}>{name}</Link> : `${event.kind} ${name}`
}

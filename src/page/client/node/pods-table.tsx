import { memo } from '../memo.ts'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { PodRow, PodUse } from '../../messages/page-message.ts'
import { formatAge, formatBytes, formatCores, formatMoment, shortenWhy, toVisible } from '../format.ts'
import { Link } from '../link.tsx'
import { navigate, podPath } from '../navigation.ts'
import { judgePod, selectPods } from './sort-pods.ts'
import type { PodColumn, Order } from './sort-pods.ts'
import { Sparkline } from './sparkline.tsx'
import { useWindow } from './use-window.ts'

interface PodsTableProps {
  readonly pods: ReadonlyMap<string, PodRow> | undefined
  readonly uses: ReadonlyMap<string, readonly PodUse[]>
  readonly sentences: ReadonlyMap<string, string>
  readonly now: number
}

const HEADS: readonly (readonly [PodColumn, string])[] = [
  ['name', 'Pod'],
  ['status', 'Status'],
  ['ready', 'Ready'],
  ['restarts', 'Restarts'],
  ['age', 'Age'],
  ['cpu', 'CPU'],
  ['memory', 'Memory'],
]
const NO_USE: readonly PodUse[] = []
// As in style.css.
const NARROW = '(max-width: 720px)'
const [ROW, NARROW_ROW] = [34, 62]

/** All pods, with filter, order and keyboard. */
export function PodsTable({ pods, uses, sentences, now }: PodsTableProps) {
  const [filter, setFilter] = useState('')
  const [order, setOrder] = useState<Order>({ column: 'name', isDescending: false })
  const [selected, setSelected] = useState<string>()
  const box = useRef<HTMLDivElement>(null)
  const input = useRef<HTMLInputElement>(null)
  const rowHeight = useRowHeight()
  const isByUse = order.column === 'cpu' || order.column === 'memory'
  const rows = useMemo(
    () => selectPods(pods?.values() ?? [], { filter, order }, { uses, sentences }),
    // Not again for each line that is scrolled, nor for samples that change nothing of the order.
    [pods, filter, order, isByUse && uses, filter !== '' && sentences],
  )
  const [first, end] = useWindow(box, rows.length, rowHeight)
  useSlash(input)

  const move = (index: number) => {
    const row = rows[Math.max(0, Math.min(index, rows.length - 1))]
    if (row === undefined) return
    setSelected(row.uid)
    scrollTo(box.current, rows.indexOf(row), rowHeight)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const index = rows.findIndex(({ uid }) => uid === selected)
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / rowHeight) - 2)
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: index + 1,
      ArrowUp: index - 1,
      PageDown: index + page,
      PageUp: index - page,
      Home: 0,
      End: rows.length - 1,
    }
    const isTyping = event.target instanceof HTMLInputElement
    const row = rows[index]
    if (event.key === 'Escape' && isTyping) setFilter('')
    else if (
      event.key === 'Enter' &&
      row !== undefined &&
      !(event.target instanceof HTMLAnchorElement) &&
      !(event.target instanceof HTMLButtonElement)
    )
      navigate(podPath(row))
    else if (event.key in steps && !(isTyping && ['Home', 'End'].includes(event.key))) move(steps[event.key] ?? 0)
    else return
    event.preventDefault()
  }
  const sortBy = (column: PodColumn) =>
    setOrder((before) => ({
      column,
      isDescending: before.column === column ? !before.isDescending : ['restarts', 'cpu', 'memory'].includes(column),
    }))
  const selectedRow = rows.find(({ uid }) => uid === selected)
  const total = pods?.size ?? 0
  return (
    <section aria-labelledby="pods-title" onKeyDown={onKeyDown}>
      <div class="bar">
        <h2 id="pods-title">Pods</h2>
        <label class="filter">
          <span class="hidden">Filter pods</span>
          <input
            ref={input}
            type="search"
            value={filter}
            placeholder="Filter  /"
            onInput={(event) => setFilter(event.currentTarget.value)}
            aria-keyshortcuts="/"
            aria-controls="pods"
          />
        </label>
        <span class="soft" role="status">
          {pods === undefined
            ? 'loading…'
            : rows.length === total
              ? `${total} pods`
              : `${rows.length} of ${total} pods`}
        </span>
      </div>
      {/* The box scrolls, so it can have the focus; the selected pod is named for screen readers. */}
      <div
        ref={box}
        class="table-box"
        tabIndex={0}
        role="region"
        aria-label={
          selectedRow === undefined
            ? 'Pods: arrow keys select one, Enter opens it'
            : `Selected: ${selectedRow.namespace}/${selectedRow.name}, ${toVisible(selectedRow.status)}`
        }
      >
        <table id="pods" aria-rowcount={rows.length + 1}>
          <thead>
            <tr aria-rowindex={1}>
              {HEADS.map(([column, title]) => (
                <th
                  key={column}
                  scope="col"
                  class={`col-${column}`}
                  aria-sort={order.column === column ? (order.isDescending ? 'descending' : 'ascending') : 'none'}
                >
                  <button type="button" onClick={() => sortBy(column)}>
                    {title}
                    <span aria-hidden="true">{order.column === column ? (order.isDescending ? ' ▾' : ' ▴') : ''}</span>
                  </button>
                </th>
              ))}
              <th scope="col" class="col-why">
                Why
              </th>
            </tr>
          </thead>
          <tbody>
            <Gap height={first * rowHeight} />
            {rows.slice(first, end).map((row, index) => (
              <PodLine
                key={row.uid}
                row={row}
                index={first + index + 2}
                uses={uses.get(row.uid) ?? NO_USE}
                why={sentences.get(row.uid) ?? row.note}
                age={formatAge(row.created, now)}
                isSelected={row.uid === selected}
                onSelect={setSelected}
              />
            ))}
            <Gap height={(rows.length - end) * rowHeight} />
          </tbody>
        </table>
        {pods !== undefined && rows.length === 0 && (
          <p class="empty">{total === 0 ? 'No pods. "kubectl apply -f FILE" makes some.' : 'No pod has this.'}</p>
        )}
      </div>
    </section>
  )
}

interface PodLineProps {
  readonly row: PodRow
  readonly index: number
  readonly uses: readonly PodUse[]
  readonly why: string
  readonly age: string
  readonly isSelected: boolean
  readonly onSelect: (uid: string) => void
}

const PodLine = memo(function PodLine({ row, index, uses, why, age, isSelected, onSelect }: PodLineProps) {
  const [cpu, memory] = uses.at(-1) ?? [null, null]
  const sentence = toVisible(why)
  return (
    <tr
      aria-rowindex={index}
      class={isSelected ? 'selected' : ''}
      onClick={() => onSelect(row.uid)}
      onDblClick={() => navigate(podPath(row))}
    >
      <th scope="row" class="col-name">
        <Link to={podPath(row)}>
          <span class="soft">{row.namespace}/</span>
          {row.name}
        </Link>
      </th>
      <td class="col-status">
        <span class={`dot ${judgePod(row)}`} aria-hidden="true" /> {toVisible(row.status)}
      </td>
      <td class="col-ready number">
        {row.ready}/{row.containers}
      </td>
      <td class={row.restarts > 0 ? 'col-restarts number warn' : 'col-restarts number'}>{row.restarts}</td>
      <td class="col-age number" title={formatMoment(row.created)}>
        {age}
      </td>
      <td class="col-cpu number">
        <span class="use">{cpu === null ? '–' : formatCores(cpu)}</span>
        <Sparkline values={uses.map(([value]) => value)} />
      </td>
      <td class="col-memory number">
        <span class="use">{memory === null ? '–' : formatBytes(memory)}</span>
        <Sparkline values={uses.map(([, value]) => value)} />
      </td>
      <td class="col-why" title={sentence}>
        {shortenWhy(sentence)}
      </td>
    </tr>
  )
})

/** Fills the room of rows that are out of sight. */
function Gap({ height }: { readonly height: number }) {
  if (height <= 0) return null
  return (
    <tr aria-hidden="true" class="gap">
      <td colSpan={HEADS.length + 1} style={{ height: `${height}px` }} />
    </tr>
  )
}

function scrollTo(box: HTMLElement | null, index: number, rowHeight: number): void {
  if (box === null || index < 0) return
  const head = box.querySelector('thead')?.clientHeight ?? 0
  const [top, bottom] = [index * rowHeight, (index + 1) * rowHeight + head]
  if (top < box.scrollTop) box.scrollTop = top
  else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight
}

/** The key "/" leads to the filter from anywhere but another field. */
function useSlash(input: preact.RefObject<HTMLInputElement>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isField = event.target instanceof HTMLElement && event.target.matches('input, textarea, select')
      if (event.key !== '/' || isField || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      input.current?.focus()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [input])
}

/** How high a line of the table is, by the width of the screen. */
function useRowHeight(): number {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches)
  useEffect(() => {
    const query = matchMedia(NARROW)
    const update = () => setNarrow(query.matches)
    query.addEventListener('change', update)
    return () => query.removeEventListener('change', update)
  }, [])
  return isNarrow ? NARROW_ROW : ROW
}

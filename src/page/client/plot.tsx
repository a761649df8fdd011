import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'

/** One line of a plot: what it shows of a sample. */
interface PlotLine<S> {
  readonly of: (sample: S) => number | null | undefined
  readonly name: string
  /** What the others are compared with. */
  readonly isBound?: boolean
}

interface PlotProps<S> {
  readonly title: string
  /** What it is now, in words. */
  readonly value: string
  readonly samples: readonly S[]
  /** Several have a legend, with what each is now. */
  readonly lines: readonly PlotLine<S>[]
  readonly most: number | undefined
  readonly format: (value: number) => string
  /** Bytes, which are counted in powers of two. */
  readonly isBinary?: boolean
}

const HEIGHT = 110
const HOUR_S = 3600
/** Below ten millicores the labels would be the same. */
const LEAST_RANGE = 0.01
const COLOURS = ['--line-1', '--line-2', '--line-3']

/** One measure over the last hour. The picture repeats what the words beside it say. */
export function Plot<S extends { readonly at: number }>(props: PlotProps<S>) {
  const { title, value, samples, lines, most, format, isBinary = false } = props
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>()
  const now = (of: PlotLine<S>['of']) => {
    const last = samples.at(-1)
    const known = last === undefined ? undefined : of(last)
    return known === undefined || known === null ? '–' : format(known)
  }
  const columns = (): uPlot.AlignedData => [
    samples.map(({ at }) => at / 1000),
    ...lines.map(({ of }) => samples.map((sample) => of(sample) ?? null)),
  ]
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const make = () => {
      plot.current?.destroy()
      plot.current = new uPlot(toOptions(element, lines, { most, format, isBinary }), columns(), element)
    }
    make()
    const observer = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }))
    observer.observe(element)
    // The colours are those of the style sheet.
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', make)
    return () => {
      observer.disconnect()
      scheme.removeEventListener('change', make)
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [most, lines.map(({ name }) => name).join()])
  useEffect(() => plot.current?.setData(columns()), [samples])
  return (
    <figure class="plot">
      <figcaption>
        <span class="plot-title">{title}</span>
        {value !== '' && <span class="plot-value">{value}</span>}
        {lines.length > 1 && (
          <span class="legend">
            {lines.map(({ of, name }, index) => (
              <span key={name} class={`legend-${index + 1}`}>
                {name} {now(of)}
              </span>
            ))}
          </span>
        )}
      </figcaption>
      <div ref={box} class="plot-box" aria-hidden="true" />
    </figure>
  )
}

function toOptions<S>(
  element: HTMLElement,
  lines: readonly PlotLine<S>[],
  { most, format, isBinary = false }: Pick<PlotProps<S>, 'most' | 'format' | 'isBinary'>,
): uPlot.Options {
  const style = getComputedStyle(element)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const grid = { stroke: colour('--plot-grid'), width: 1 }
  const axis = { stroke: colour('--soft'), font: '11px system-ui, sans-serif', grid, ticks: { show: false } }
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    // On the right half of a time of day, which may be the last label.
    padding: [8, 18, 0, 0],
    scales: {
      x: { range: (_, __, last) => [(last ?? Date.now() / 1000) - HOUR_S, last ?? Date.now() / 1000] },
      y: { range: (_, __, highest) => [0, most ?? Math.max((highest ?? 0) * 1.15, LEAST_RANGE)] },
    },
    axes: [
      { ...axis, size: 22, space: 70, values: (_, splits) => splits.map(formatTime) },
      {
        ...axis,
        size: 56,
        space: 32,
        values: (_, splits) => splits.map(format),
        ...(isBinary && { splits: (_: uPlot, __: number, ___: number, highest: number) => binarySplits(highest) }),
      },
    ],
    series: [
      {},
      ...lines.map(({ isBound = false }, index) => ({
        stroke: colour(COLOURS[index] ?? '--line-1'),
        width: 1.5,
        ...(isBound && { dash: [4, 4] }),
        ...(index === 0 && lines.slice(1).every((line) => line.isBound) && { fill: colour('--line-fill') }),
        // A single point is no line.
        points: {
          show: (self: uPlot) => [...(self.data[index + 1] ?? [])].filter((each) => each !== null).length === 1,
          size: 5,
        },
      })),
    ],
  }
}

/** Zero and some round numbers of bytes. */
function binarySplits(highest: number): number[] {
  const step = 2 ** Math.max(0, Math.floor(Math.log2(highest / 1.5)))
  return Array.from({ length: Math.floor(highest / step) + 1 }, (_, index) => index * step)
}

function formatTime(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', hour12: false })
}

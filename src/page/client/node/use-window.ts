import { useEffect, useState } from 'preact/hooks'
import type { RefObject } from 'preact'

const EXTRA = 8
/** So few are all drawn: searching in the page finds them. */
const ALL_UP_TO = 60

/** Which rows of a fixed height are seen in a box that scrolls: the first, and the one after the last. */
export function useWindow(box: RefObject<HTMLElement>, rows: number, rowHeight: number): readonly [number, number] {
  const [seen, setSeen] = useState<readonly [number, number]>([0, ALL_UP_TO])
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const update = () => {
      const first = Math.max(0, Math.floor(element.scrollTop / rowHeight) - EXTRA)
      const end = Math.ceil((element.scrollTop + element.clientHeight) / rowHeight) + EXTRA
      setSeen((before) => (before[0] === first && before[1] === end ? before : [first, end]))
    }
    update()
    element.addEventListener('scroll', update, { passive: true })
    const observer = new ResizeObserver(update)
    observer.observe(element)
    return () => {
      element.removeEventListener('scroll', update)
      observer.disconnect()
    }
  }, [box, rowHeight])
  if (rows <= ALL_UP_TO) return [0, rows]
  const first = Math.min(seen[0], Math.max(0, rows - 1))
  return [first, Math.min(Math.max(seen[1], first + 1), rows)]
}

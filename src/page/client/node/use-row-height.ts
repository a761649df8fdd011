import { useEffect, useState } from 'preact/hooks'

// As in style.css.
const NARROW = '(max-width: 720px)'
const [ROW, NARROW_ROW] = [34, 62]

/** How high a line of the table is, by the width of the screen. */
export function useRowHeight(): number {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches)
  useEffect(() => {
    const query = matchMedia(NARROW)
    const update = () => setNarrow(query.matches)
    query.addEventListener('change', update)
    return () => query.removeEventListener('change', update)
  }, [])
  return isNarrow ? NARROW_ROW : ROW
}

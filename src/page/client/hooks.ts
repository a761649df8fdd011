import { useEffect, useState } from 'preact/hooks'
import type { LiveConnection, LiveState } from './live.ts'
import { askJson } from './session.ts'
import { toErrorText } from './format.ts'
import { isShown, onShown } from './shown.ts'

export function useLive(live: LiveConnection): LiveState {
  const [state, setState] = useState(live.state)
  useEffect(() => live.subscribe(() => setState(live.state)), [live])
  return state
}

/** Whether the page is seen. */
export function useShown(): boolean {
  const [is, setIs] = useState(isShown)
  useEffect(() => onShown(() => setIs(isShown())), [])
  return is
}

const TICK_MS = 5000

/** The time, for ages. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return now
}

export interface Loaded<T> {
  readonly value: T | undefined
  readonly error: string | undefined
}

const SETTLE_MS = 250

/** What a path answers; asked for again when something changes that it depends on, and kept until then. */
export function useAnswer<T>(path: string | undefined, dependsOn: unknown): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T> & { readonly path: string | undefined }>({
    value: undefined,
    error: undefined,
    path,
  })
  const isFirst = loaded.path !== path || loaded.value === undefined
  useEffect(() => {
    if (path === undefined) return
    const stop = new AbortController()
    const load = () =>
      askJson<T>(path, stop.signal).then(
        (value) => setLoaded({ value, error: undefined, path }),
        (error: unknown) => {
          if (!stop.signal.aborted) setLoaded((before) => ({ ...before, error: toErrorText(error), path }))
        },
      )
    // Changes come in bursts.
    const timer = setTimeout(() => void load(), isFirst ? 0 : SETTLE_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [path, dependsOn])
  return loaded.path === path ? loaded : { value: undefined, error: undefined }
}

import { BackOff } from '../../base/async/back-off.ts'
import type {
  EventRow,
  NodeSample,
  NodeView,
  PageMessage,
  PodRow,
  PodUse,
  ProblemSource,
  RefusedFile,
} from '../messages/page-message.ts'
import { readLines } from './read-lines.ts'
import { ask, SignedOutError } from './session.ts'
import { isShown, onShown, waitUntilShown } from './shown.ts'

type Connection = 'connecting' | 'open' | 'lost' | 'signed out'

/** All that the page shows. A change makes a new one. */
export interface LiveState {
  readonly connection: Connection
  /** How often the connection was made: what is read beside it is read again after each time. */
  readonly opens: number
  readonly node: NodeView | null | undefined
  readonly pods: ReadonlyMap<string, PodRow> | undefined
  /** The newest first. */
  readonly events: readonly EventRow[]
  readonly samples: readonly NodeSample[]
  readonly uses: ReadonlyMap<string, readonly PodUse[]>
  readonly sentences: ReadonlyMap<string, string>
  readonly refused: readonly RefusedFile[]
  readonly problems: Readonly<Partial<Record<ProblemSource, string>>>
}

const EMPTY: LiveState = {
  connection: 'connecting',
  opens: 0,
  node: undefined,
  pods: undefined,
  events: [],
  samples: [],
  uses: new Map(),
  sentences: new Map(),
  refused: [],
  problems: {},
}

const HOUR_MS = 3_600_000
const POD_POINTS = 30
const MOST_EVENTS = 200
const WAITS = { firstMs: 500, longestMs: 10_000 }
/** Something comes every ten seconds. */
const SILENCE_MS = 35_000

/** The state after a message. */
function applyMessage(state: LiveState, message: PageMessage): LiveState {
  switch (message.kind) {
    case 'pods':
      return { ...state, pods: new Map(message.rows.map((row) => [row.uid, row])) }
    case 'pod':
      return { ...state, pods: new Map(state.pods).set(message.row.uid, message.row) }
    case 'pod-gone': {
      const pods = new Map(state.pods)
      pods.delete(message.uid)
      return { ...state, pods }
    }
    case 'events':
      return { ...state, events: message.rows.toReversed() }
    case 'event': {
      const others = state.events.filter(({ uid }) => uid !== message.row.uid)
      return { ...state, events: [message.row, ...others].slice(0, MOST_EVENTS) }
    }
    case 'node':
      return { ...state, node: message.node }
    case 'history':
      return { ...state, samples: message.node, uses: new Map(Object.entries(message.pods)) }
    case 'sample': {
      const { node, pods } = message
      const uses = Object.entries(pods).map(
        ([uid, use]) => [uid, [...(state.uses.get(uid) ?? []).slice(1 - POD_POINTS), use]] as const,
      )
      const samples = [...state.samples.filter(({ at }) => at > node.at - HOUR_MS), node]
      return { ...state, samples, uses: new Map(uses) }
    }
    case 'why': {
      const sentences = new Map(state.sentences)
      for (const [uid, why] of Object.entries(message.sentences))
        if (why === null) sentences.delete(uid)
        else sentences.set(uid, why)
      return { ...state, sentences }
    }
    case 'refused':
      return { ...state, refused: message.files }
    case 'problem': {
      const { [message.source]: _, ...others } = state.problems
      return { ...state, problems: message.text === null ? others : { ...others, [message.source]: message.text } }
    }
    case 'alive':
      return state
    default:
      // Of a newer server.
      return state
  }
}

/** The connection to the server: kept while the page is seen, made again whenever it breaks. */
export class LiveConnection {
  #state = EMPTY
  readonly #listeners = new Set<() => void>()
  #isDrawing = false
  #current: AbortController | undefined

  get state(): LiveState {
    return this.#state
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  start(): void {
    void this.#run()
    onShown(() => {
      if (!isShown()) this.#current?.abort()
    })
    globalThis.addEventListener('online', () => this.#current?.abort())
  }

  async #run(): Promise<void> {
    const backOff = new BackOff(WAITS)
    for (;;) {
      await waitUntilShown()
      try {
        await this.#follow(() => backOff.reset())
      } catch (error) {
        if (error instanceof SignedOutError) return this.#set({ ...this.#state, connection: 'signed out' })
      }
      this.#set({ ...this.#state, connection: isShown() ? 'lost' : 'connecting' })
      await sleep(backOff.next())
    }
  }

  async #follow(onOpen: () => void): Promise<void> {
    const current = new AbortController()
    this.#current = current
    let watchdog = setTimeout(() => current.abort(), SILENCE_MS)
    try {
      const { body } = await ask('/live', { signal: current.signal })
      if (body === null) return
      let isFirst = true
      for await (const lines of readLines(body)) {
        clearTimeout(watchdog)
        watchdog = setTimeout(() => current.abort(), SILENCE_MS)
        onOpen()
        // What was known before may be wrong by now; it is replaced as soon as there is something in its place.
        const before: LiveState = isFirst
          ? { ...this.#state, connection: 'open', opens: this.#state.opens + 1, sentences: new Map(), problems: {} }
          : this.#state
        isFirst = false
        this.#set(lines.map((line) => JSON.parse(line) as PageMessage).reduce(applyMessage, before))
      }
    } finally {
      clearTimeout(watchdog)
      current.abort()
    }
  }

  /** Drawn once for all that comes between two frames. */
  #set(state: LiveState): void {
    this.#state = state
    if (this.#isDrawing) return
    this.#isDrawing = true
    requestAnimationFrame(() => {
      this.#isDrawing = false
      for (const listener of this.#listeners) listener()
    })
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}

import { useEffect, useRef, useState } from 'preact/hooks'
import type { SessionView } from '../messages/page-message.ts'
import { toErrorText, formatZone } from './format.ts'
import { useLive } from './hooks.ts'
import { Link } from './link.tsx'
import { LiveConnection } from './live.ts'
import type { LiveState } from './live.ts'
import { STORAGE_PATH, usePlace } from './navigation.ts'
import { NodeScreen } from './node/node-screen.tsx'
import { PodScreen } from './pod/pod-screen.tsx'
import { StorageScreen } from './storage-screen.tsx'
import { closeSession, openSession, SignedOutError } from './session.ts'

const live = new LiveConnection()

/** The whole page: who is signed in, then what the address asks for. */
export function App() {
  const [session, setSession] = useState<SessionView>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    openSession().then(
      (view) => {
        setSession(view)
        live.start()
      },
      (error: unknown) => setProblem(error instanceof SignedOutError ? 'signed out' : toErrorText(error)),
    )
  }, [])
  if (problem === 'signed out') return <SignedOut />
  if (problem !== undefined) return <Notice title="The page cannot be loaded" text={problem} />
  return session === undefined ? <p class="loading">Loading…</p> : <Shell session={session} />
}

function Shell({ session }: { readonly session: SessionView }) {
  const state = useLive(live)
  const place = usePlace()
  useEffect(() => {
    document.title = place.screen === 'pod' ? `${place.name} · ${session.nodeName}` : `${session.nodeName} · Deckhand`
  }, [place, session])
  useNewScreen(place.screen === 'pod' ? `${place.namespace}/${place.name}` : place.screen)
  if (state.connection === 'signed out') return <SignedOut />
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <Link to="/" class="brand">
          <Anchor /> {session.nodeName}
        </Link>
        <nav class="screens" aria-label="Screens">
          <Link to="/" isCurrent={place.screen === 'node'}>
            Node
          </Link>
          <Link to={STORAGE_PATH} isCurrent={place.screen === 'storage'}>
            Images and storage
          </Link>
        </nav>
        <ConnectionState state={state} />
        <span class="user">
          {session.user}
          {session.isReader && ' (read-only)'}
        </span>
        <button type="button" onClick={() => void closeSession().finally(() => location.reload())}>
          Sign out
        </button>
      </header>
      {session.isKubelet && (
        <p class="missing">
          This page asks a kubelet alone, at its own port: there are no events, no claims and volumes, and nothing can
          be changed.
        </p>
      )}
      <Problems state={state} />
      <main id="main" tabIndex={-1}>
        {place.screen === 'node' && <NodeScreen state={state} session={session} />}
        {place.screen === 'storage' && <StorageScreen state={state} session={session} />}
        {place.screen === 'pod' && (
          <PodScreen key={`${place.namespace}/${place.name}`} state={state} session={session} {...place} />
        )}
        {place.screen === 'unknown' && <Notice title="There is no such page" text={location.pathname} />}
      </main>
      <footer class="foot">
        Times are those of {formatZone()}. Deckhand {session.version}
      </footer>
    </>
  )
}

/** Another screen begins at its top, and that is where the keyboard and screen readers go on. */
function useNewScreen(screen: string): void {
  const before = useRef(screen)
  useEffect(() => {
    if (before.current === screen) return
    before.current = screen
    document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [screen])
}

function Anchor() {
  return (
    <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M12 7v14M5 13c0 5 3.5 8 7 8s7-3 7-8M8.500 11h7" />
      <circle cx="12" cy="4.500" r="2.500" />
    </svg>
  )
}

function ConnectionState({ state }: { readonly state: LiveState }) {
  const texts = { connecting: 'connecting…', open: 'live', lost: 'connection lost, trying again…', 'signed out': '' }
  return (
    <span role="status" class={`connection ${state.connection}`}>
      {texts[state.connection]}
    </span>
  )
}

/** What the server cannot read at the moment; the rest goes on. */
function Problems({ state }: { readonly state: LiveState }) {
  const { api, agent } = state.problems
  const { missing } = state.problems
  if (state.connection !== 'open') return null
  if (api === undefined && agent === undefined) return missing === undefined ? null : <p class="missing">{missing}</p>
  return (
    <div class="problems" role="alert">
      {api !== undefined && <p>The Kubernetes API: {api}</p>}
      {agent !== undefined && <p>{agent}</p>}
    </div>
  )
}

function SignedOut() {
  // Another tab of this browser has signed in.
  useEffect(() => {
    const reload = () => location.reload()
    globalThis.addEventListener('storage', reload)
    return () => globalThis.removeEventListener('storage', reload)
  }, [])
  return (
    <Notice title="You are not signed in">
      Run <code>deckhand page</code>, on the node or with its kubeconfig file as before, and open the link that it
      prints. A link works once.
    </Notice>
  )
}

function Notice({
  title,
  text,
  children,
}: {
  readonly title: string
  readonly text?: string
  readonly children?: preact.ComponentChildren
}) {
  return (
    <section class="notice">
      <h1>{title}</h1>
      <p>{children ?? text}</p>
    </section>
  )
}

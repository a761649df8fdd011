import { useEffect, useRef, useState } from 'preact/hooks'
import { ContainerSelect } from '../pod/container-select.tsx'
import type { Pod } from '../../../model/generated/core-v1.ts'
import { toErrorText, toVisible } from '../format.ts'
import { ask } from '../session.ts'
import { commandPath, openCommand } from './open-command.ts'
import type { RunningCommand } from './open-command.ts'
import type { Screen } from './terminal-screen.ts'

type Phase = 'idle' | 'connecting' | 'open' | 'ended'

interface Parts {
  screen: Screen | undefined
  command: RunningCommand | undefined
}

const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container'

/** A command in a container, with a terminal of its own. It starts when it is asked to, and ends with this view. */
export function TerminalView({ pod }: { readonly pod: Pod }) {
  const { namespace = '', name = '', annotations } = pod.metadata ?? {}
  const running = listRunning(pod)
  const [container, setContainer] = useState(annotations?.[DEFAULT_CONTAINER] ?? running[0] ?? '')
  const [text, setText] = useState('/bin/sh')
  const [isForReaders, setForReaders] = useState(false)
  const [phase, setPhase] = useState<Phase>('idle')
  const [note, setNote] = useState('')
  const box = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const parts = useRef<Parts>({ screen: undefined, command: undefined })
  const leave = () => {
    parts.current.command?.close()
    parts.current.screen?.dispose()
    parts.current = { screen: undefined, command: undefined }
  }
  useEffect(() => leave, [])
  const start = async () => {
    leave()
    setPhase('connecting')
    setNote('')
    // Loaded only here: most visits need none.
    const { openScreen } = await import('./terminal-screen.ts')
    const element = box.current
    if (element === null) return
    const own: Parts = { screen: undefined, command: undefined }
    parts.current = own
    const screen = openScreen(
      element,
      {
        onInput: (typed) => own.command?.send(typed),
        onResize: (size) => own.command?.resize(size),
        onLeave: () => button.current?.focus(),
      },
      isForReaders,
    )
    own.screen = screen
    const path = commandPath({ namespace, name }, container, splitWords(text))
    let isOpened = false
    own.command = openCommand(path, {
      onOpen: () => {
        isOpened = true
        own.command?.resize(screen.size)
        setPhase('open')
        screen.focus()
      },
      onOutput: (bytes) => screen.write(bytes),
      onEnd: (how) => {
        if (parts.current !== own) return
        void describeEnd(path, isOpened, how).then((reason) => {
          if (parts.current !== own) return
          screen.note(toVisible(reason))
          setPhase('ended')
          setNote(toVisible(reason))
        })
      },
    })
  }
  const isActive = phase === 'connecting' || phase === 'open'
  return (
    <section aria-label="Terminal">
      <form
        class="bar"
        onSubmit={(event) => {
          event.preventDefault()
          if (isActive) {
            leave()
            setPhase('ended')
            setNote('closed')
          } else void start().catch((error: unknown) => setNote(toErrorText(error)))
        }}
      >
        <ContainerSelect names={running} value={container} isDisabled={isActive} onChoose={setContainer} />
        <label>
          Command{' '}
          <input
            type="text"
            class="command"
            value={text}
            disabled={isActive}
            spellcheck={false}
            autocapitalize="off"
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <label>
          <input
            type="checkbox"
            checked={isForReaders}
            disabled={isActive}
            onChange={(event) => setForReaders(event.currentTarget.checked)}
          />{' '}
          Screen reader
        </label>
        <button ref={button} type="submit" class="primary" disabled={container === '' || text.trim() === ''}>
          {isActive ? 'Close the terminal' : 'Open a terminal'}
        </button>
        <span role="status" class="soft">
          {container === '' ? 'No container runs.' : describePhase(phase, note)}
        </span>
      </form>
      <div ref={box} class={`terminal-box ${phase}`} role="group" aria-label="Output and input" />
    </section>
  )
}

function describePhase(phase: Phase, note: string): string {
  if (phase === 'connecting') return 'connecting…'
  if (phase === 'open') return 'connected; Ctrl+Shift+↑ leaves the terminal'
  return note
}

/** The browser does not say why a connection was refused: the same address says it without one. */
async function describeEnd(path: string, isOpened: boolean, how: string | undefined): Promise<string> {
  if (how !== undefined) return how
  if (isOpened) return 'connection lost'
  try {
    await ask(path)
    return 'the connection was refused'
  } catch (error) {
    const why = toErrorText(error)
    return /upgrade/i.test(why) ? 'the connection was refused' : why
  }
}

function listRunning({ spec, status = {} }: Pod): readonly string[] {
  const statuses = [
    ...(status.containerStatuses ?? []),
    ...(status.initContainerStatuses ?? []),
    ...(status.ephemeralContainerStatuses ?? []),
  ]
  const running = new Set(statuses.flatMap(({ name, state }) => (state?.running === undefined ? [] : [name])))
  const all = [...(spec?.containers ?? []), ...(spec?.initContainers ?? []), ...(spec?.ephemeralContainers ?? [])]
  return all.map(({ name }) => name).filter((name) => running.has(name))
}

/** A command and its arguments; a word with spaces is in quotes. No shell reads it. */
function splitWords(text: string): readonly string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  )
}

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { toErrorText } from '../format.ts'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly isWide?: boolean
  /** Something is being done, or would be lost: Escape does not close it. */
  readonly isHeld?: boolean
  readonly children: ComponentChildren
}

/** Asks before something is done. The browser keeps the focus in it, and gives it back afterwards. */
export function Dialog({ title, onClose, isWide = false, isHeld = false, children }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const element = box.current
    const before = document.activeElement
    element?.showModal()
    return () => {
      element?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={box}
      class={isWide ? 'dialog wide-dialog' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        if (!isHeld) onClose()
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}

/** What goes on in a dialog: one thing at a time, and how the last one failed. */
export function useWork(): {
  readonly isBusy: boolean
  readonly error: string | undefined
  readonly run: (work: () => Promise<void>) => void
} {
  const [state, setState] = useState<{ readonly isBusy: boolean; readonly error: string | undefined }>({
    isBusy: false,
    error: undefined,
  })
  const run = (work: () => Promise<void>) => {
    setState({ isBusy: true, error: undefined })
    work().then(
      () => setState({ isBusy: false, error: undefined }),
      (error: unknown) => setState({ isBusy: false, error: toErrorText(error) }),
    )
  }
  return { ...state, run }
}

interface ButtonsProps {
  readonly onClose: () => void
  readonly isBusy: boolean
  readonly error: string | undefined
  /** What the button that does it says; undefined: it cannot be done yet. */
  readonly action: string | undefined
  readonly onAct: () => void
  readonly isDangerous?: boolean
  readonly children?: ComponentChildren
}

/** The foot of a dialog: what went wrong, the way out, and the button that does it. */
export function DialogButtons(props: ButtonsProps) {
  const { onClose, isBusy, error, action, onAct, isDangerous = false, children } = props
  return (
    <>
      {error !== undefined && (
        <p class="bad-note" role="alert">
          {error}
        </p>
      )}
      <div class="dialog-buttons">
        <span role="status" class="soft">
          {isBusy && 'Working…'}
        </span>
        {children}
        <button type="button" onClick={onClose} autoFocus>
          {action === undefined && error === undefined ? 'Close' : 'Cancel'}
        </button>
        {action !== undefined && (
          <button type="button" class={isDangerous ? 'danger' : 'primary'} disabled={isBusy} onClick={onAct}>
            {action}
          </button>
        )}
      </div>
    </>
  )
}

interface ConfirmProps {
  readonly title: string
  readonly action: string
  readonly isDangerous?: boolean
  readonly onClose: () => void
  /** What it does; the dialog closes when it has done it. */
  readonly act: () => Promise<void>
  readonly children: ComponentChildren
}

/** Says what will be done, and does it when asked to. */
export function Confirm({ title, action, isDangerous = false, onClose, act, children }: ConfirmProps) {
  const { isBusy, error, run } = useWork()
  const onAct = () =>
    run(async () => {
      await act()
      onClose()
    })
  return (
    <Dialog title={title} onClose={onClose} isHeld={isBusy}>
      {children}
      <DialogButtons
        onClose={onClose}
        isBusy={isBusy}
        error={error}
        action={action}
        onAct={onAct}
        isDangerous={isDangerous}
      />
    </Dialog>
  )
}

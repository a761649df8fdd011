import type { ComponentChildren } from 'preact'
import { navigate } from './navigation.ts'

interface LinkProps {
  readonly to: string
  readonly children: ComponentChildren
  readonly isCurrent?: boolean
  readonly class?: string
}

/** A link within the page, which loads nothing again. */
export function Link({ to, children, isCurrent = false, class: className }: LinkProps) {
  const onClick = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    navigate(to)
  }
  return (
    <a href={to} onClick={onClick} class={className} {...(isCurrent && { 'aria-current': 'page' as const })}>
      {children}
    </a>
  )
}

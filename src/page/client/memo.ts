import { Component, createElement } from 'preact'
import type { FunctionComponent, VNode } from 'preact'

/** A component that is drawn again only when one of its properties is another. */
export function memo<P extends object>(draw: (props: P) => VNode): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      const names = new Set([...Object.keys(this.props), ...Object.keys(next)]) as Set<keyof P>
      return [...names].some((name) => this.props[name] !== next[name])
    }
    override render() {
      return draw(this.props)
    }
  }
  return (props: P) => createElement(Memo as never, props)
}

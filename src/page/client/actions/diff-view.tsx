import { toVisible } from '../format.ts'
import { diffLines } from './diff-lines.ts'

/** What will be different, for those who see colours and for those who do not. */
export function DiffView({ before, after }: { readonly before: string; readonly after: string }) {
  const lines = diffLines(before, after)
  if (lines.length === 0) return <p class="soft">Nothing is different.</p>
  return (
    <pre class="diff code" tabIndex={0} role="region" aria-label="What is different">
      {lines.map((line, index) =>
        line === null ? (
          <div key={index} class="soft">
            ⋯
          </div>
        ) : line.mark === ' ' ? (
          <div key={index}>
            {'  '}
            {toVisible(line.text)}
          </div>
        ) : line.mark === '+' ? (
          <ins key={index}>
            {'+ '}
            {toVisible(line.text)}
          </ins>
        ) : (
          <del key={index}>
            {'- '}
            {toVisible(line.text)}
          </del>
        ),
      )}
    </pre>
  )
}

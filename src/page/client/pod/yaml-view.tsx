import { useEffect, useState } from 'preact/hooks'
import type { Pod } from '../../../model/generated/core-v1.ts'
import { findFilledIn } from '../../messages/find-filled-in.ts'
import type { FilledIn } from '../../messages/find-filled-in.ts'
import { toVisible } from '../format.ts'

const MARK = '# default'
const NOTES: Readonly<Record<FilledIn['by'], string>> = {
  applied: `Lines with "${MARK}" are not in what was applied: the API has filled them in.`,
  defaults: `Lines with "${MARK}" are as they would be if nobody had written them.`,
}

/** A pod as YAML, without what only the API's bookkeeping needs, and with what was filled in marked. */
export function YamlView({ value }: { readonly value: Pod }) {
  const [text, setText] = useState<string>()
  const [by, setBy] = useState<FilledIn['by']>()
  useEffect(() => {
    let isCurrent = true
    // Loaded only here: most visits need none.
    void import('./write-marked-yaml.ts').then(({ writeMarkedYaml }) => {
      if (!isCurrent) return
      const filledIn = findFilledIn(value)
      setBy(filledIn.by)
      setText(writeMarkedYaml(withoutManagedFields(value), filledIn.paths, MARK))
    })
    return () => {
      isCurrent = false
    }
  }, [value])
  return (
    <section aria-label="YAML">
      <p class="soft">{by === undefined ? '\u00A0' : NOTES[by]}</p>
      <pre class="code" tabIndex={0}>
        {text === undefined
          ? 'Loading…'
          : text.split('\n').map((line, index) => (
              <span key={index} class={line.endsWith(MARK) ? 'filled' : undefined}>
                {toVisible(line)}
                {'\n'}
              </span>
            ))}
      </pre>
    </section>
  )
}

function withoutManagedFields(value: object): object {
  const { metadata, ...rest } = value as { readonly metadata?: Readonly<Record<string, unknown>> }
  const { managedFields: _, ...shown } = metadata ?? {}
  const { apiVersion, kind, ...others } = rest as Readonly<Record<string, unknown>>
  return { apiVersion, kind, metadata: shown, ...others }
}

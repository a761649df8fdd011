import { useEffect, useState } from 'preact/hooks'

/** An object as YAML, without what only the API's bookkeeping needs. */
export function YamlView({ value }: { readonly value: object }) {
  const [text, setText] = useState<string>()
  useEffect(() => {
    let isCurrent = true
    // Loaded only here: most visits need none.
    void import('yaml').then(({ stringify }) => {
      if (isCurrent) setText(stringify(withoutManagedFields(value)))
    })
    return () => {
      isCurrent = false
    }
  }, [value])
  return (
    <section aria-label="YAML">
      <pre class="code" tabIndex={0}>
        {text ?? 'Loading…'}
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

import type { ComponentChildren } from 'preact'

/** A part of a screen that is a table: its title, those of its columns, and its rows, or what it says without any. */
export function PlainTable({
  title,
  columns,
  empty,
  children,
}: {
  readonly title: string
  readonly columns: readonly string[]
  /** Shown in place of the table. */
  readonly empty?: string | undefined
  readonly children: ComponentChildren
}) {
  return (
    <section>
      <h2>{title}</h2>
      {empty === undefined ? (
        <div class="wide" tabIndex={0} role="region" aria-label={title}>
          <table class="plain">
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column} scope="col">
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>{children}</tbody>
          </table>
        </div>
      ) : (
        <p class="empty">{empty}</p>
      )}
    </section>
  )
}

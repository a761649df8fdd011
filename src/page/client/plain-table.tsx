import type { ComponentChildren } from 'preact'

/** A part of a screen that is a table: its title, those of its columns, and its rows. */
export function PlainTable({
  title,
  columns,
  children,
}: {
  readonly title: string
  readonly columns: readonly string[]
  readonly children: ComponentChildren
}) {
  return (
    <section>
      <h2>{title}</h2>
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
    </section>
  )
}

import type { ComponentChildren, JSX } from 'preact';

/** A part of the page with a heading that can be linked to. */
export function Section({
  id,
  title,
  lead,
  children,
}: {
  id: string;
  title: string;
  lead?: ComponentChildren;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {lead ? <p class="lead">{lead}</p> : null}
      {children}
    </section>
  );
}

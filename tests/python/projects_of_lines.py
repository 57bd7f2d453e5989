"""Projects with traces of a few lines."""

HEAD = "<?xml version='1.0' encoding='UTF-8'?>\n<Program timeAdjustment='100' version='1' rank='{rank}' thread='0'>\n"


def _for_each(ranks, text):
    return "".join(text.format(rank=rank) for rank in range(ranks))


def project_text(ranks):
    """Processes with one thread each; all know the world, a file and a datatype, each under the id 0."""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<Application name="app" processCount="{ranks}" version="1">
  <Description/>
  <FileList>
    <File name="/data/out"><InitialSize>16</InitialSize><Distribution class="Stripe" implementation="Stripe"><ChunkSize>64K</ChunkSize></Distribution>
      <ChunkSize>64K</ChunkSize>{_for_each(ranks, '<Rank global="{rank}" thread="0" fid="0"/>')}</File>
  </FileList>
  <Topology>
    <Level name="Hostname" type="Hostname"><Level name="Rank" type="Rank"><Level name="Thread" type="Thread"/></Level></Level>
    <Node name="node01">{_for_each(ranks, '<Node name="{rank}"><Node name="0"/></Node>')}</Node>
    <Label value="node01">{_for_each(ranks, '<Label value="{rank}"><Label value="0"/></Label>')}</Label>
  </Topology>
  <CommunicatorList>
    <Communicator name="WORLD" uid="W">{_for_each(ranks, '<Rank global="{rank}" local="{rank}" cid="0"/>')}</Communicator>
  </CommunicatorList>
  <Datatypes>
    {_for_each(ranks, '<Rank name="{rank}" thread="0"><NAMED id="0" name="MPI_INT" size="4" lb="0" extent="4"/></Rank>')}
  </Datatypes>
</Application>
"""


def write_project(directory, *traces, closing="</Program>\n"):
    """Writes app.proj and a trace with the given lines for each rank; returns the project's path."""
    path = directory / "app.proj"
    path.write_text(project_text(len(traces)))
    for rank, lines in enumerate(traces):
        (directory / f"app_node01_{rank}_0.trc").write_text(HEAD.format(rank=rank) + lines + closing)
    return path


def add_thread(path, rank, lines):
    """A second thread of that rank."""
    text = path.read_text()
    for kind, name in (("Node", "name"), ("Label", "value")):
        text = text.replace(f'<{kind} {name}="{rank}"><{kind} {name}="0"/>', f'<{kind} {name}="{rank}"><{kind} {name}="0"/><{kind} {name}="1"/>')
    path.write_text(text)
    head = HEAD.format(rank=rank).replace("thread='0'", "thread='1'")
    (path.parent / f"app_node01_{rank}_1.trc").write_text(head + lines + "</Program>\n")

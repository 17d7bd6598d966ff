"""A robot from a URDF text: read, told what became of it, held, reached with, and shown as a page."""

import sinew

URDF = """<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0 0 0.2"/><mass value="2"/><inertia ixx="0.03" iyy="0.03" izz="0.003" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.05" length="0.4"/></geometry></visual>
  </link>
  <link name="lower">
    <inertial><origin xyz="0 0 0.2"/><mass value="1"/><inertia ixx="0.02" iyy="0.02" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.04" length="0.4"/></geometry></visual>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="50" velocity="5"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/><child link="lower"/><origin xyz="0 0 0.4"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="50" velocity="5"/>
  </joint>
</robot>"""

scene = sinew.load_scene(URDF, root="fixed")
print(scene, *scene.notes, sep="\n  ")
world = scene.build()
report = world.ik({"lower": [0.25, 0, 0.25]})
print(report, "elbow:", round(float(world.joint("elbow")["twist"]), 3), "rad")
world.record()
world.step(90)
print("page:", world.show().save("arm.html"))
